import exec from 'k6/execution';
import http, { type Params, type RefinedResponse, type RequestBody } from 'k6/http';
import { controlUrl } from './stack.ts';

type Response = RefinedResponse<'text'>;

const tagged = (params: Params = {}): Params => ({ ...params, tags: { ...params.tags, target: 'stack' } });

/** `http.get` with the tag that tells requests to the stack from those to the control. */
export const get = (url: string, params?: Params): Response => http.get(url, tagged(params)) as Response;

/** `http.post` with the same tag. */
export const post = (url: string, body: RequestBody, params?: Params): Response =>
  http.post(url, body, tagged(params)) as Response;

/** One in this many iterations also asks the control. */
const every = 10;

/**
 * Asks the control, in every tenth iteration, as often as the iteration asked the stack. Its tags are those of the
 * requests that it is compared with.
 */
export function askControl(tags: Record<string, string> = {}, times = 1): void {
  if (!controlUrl || exec.scenario.iterationInTest % every !== every / 2) return;
  for (let i = 0; i < times; i += 1) {
    http.get(`${controlUrl}/`, { tags: { ...tags, name: 'control', target: 'control' } });
  }
}
