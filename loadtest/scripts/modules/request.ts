import http, { type Params, type RefinedResponse, type RequestBody } from 'k6/http';

type Response = RefinedResponse<'text'>;

const tagged = (params: Params = {}): Params => ({ ...params, tags: { ...params.tags, target: 'stack' } });

/** `http.get` with the tag that tells requests to the stack from those to the control. */
export const get = (url: string, params?: Params): Response => http.get(url, tagged(params)) as Response;

/** `http.post` with the same tag. */
export const post = (url: string, body: RequestBody, params?: Params): Response =>
  http.post(url, body, tagged(params)) as Response;
