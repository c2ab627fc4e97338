import http, { type Params, type RefinedResponse, type RequestBody } from 'k6/http';
import { Trend } from 'k6/metrics';

/** Where the time of a request went; together they are its duration. Their averages count: nginx knows milliseconds. */
const parts = {
  client: new Trend('time_client', true),
  proxy: new Trend('time_proxy', true),
  application: new Trend('time_application', true),
  redis: new Trend('time_redis', true),
  target: new Trend('time_target', true),
};

type Response = RefinedResponse<'text'>;

/** `http.get` with a tag that tells it from requests of the control; what `Server-Timing` says goes into the trends. */
export const get = (url: string, params?: Params): Response => request('GET', url, null, params);

/** `http.post`, as `get`. */
export const post = (url: string, body: RequestBody, params?: Params): Response =>
  request('POST', url, body, params);

function request(method: string, url: string, body: RequestBody | null, params: Params = {}): Response {
  const tags = { ...params.tags, target: 'stack' };
  const response = http.request(method, url, body, { ...params, tags }) as Response;
  const header = response.headers['Server-Timing'];
  if (!header) return response;
  const until = (name: string) =>
    Number(new RegExp(`(?:^|,\\s*)${name};dur=([\\d.]+)`).exec(header)?.[1] ?? Number.NaN);
  const total = response.timings.duration;
  const application = until('app') || 0;
  const redis = until('redis') || 0;
  const target = until('hops') || 0;
  // Without a proxy in between, the time that the application does not know of is the client's.
  const proxy = until('proxy') >= 0 ? until('proxy') : application;
  parts.client.add(total - proxy, tags);
  parts.proxy.add(proxy - application, tags);
  parts.application.add(application - redis - target, tags);
  parts.redis.add(redis, tags);
  parts.target.add(target, tags);
  return response;
}
