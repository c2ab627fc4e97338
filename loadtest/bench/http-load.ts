import http from 'node:http';
import type { LoadResult } from './measure.ts';

export interface HttpLoad {
  /** The path of the next request. */
  path: () => string;
  headers?: http.OutgoingHttpHeaders;
  /** The body of the next request, which makes it a POST. */
  body?: () => string;
  /** The status of a correct response. */
  status?: number;
  /** Keep-alive connections, each with one request in flight. */
  connections?: number;
  /** Runs before each request, unmeasured. */
  before?: () => Promise<unknown>;
}

/** A load on `url` by `node:http`: each connection sends the next request after the response to the last one. */
export function httpLoad(url: string, options: HttpLoad): (seconds: number) => Promise<LoadResult> {
  const { path, headers = {}, body, status = 200, connections = 32, before } = options;
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections });
  const method = body ? 'POST' : 'GET';
  const send = () =>
    new Promise<boolean>((resolve) => {
      const request = http.request(url + path(), { agent, method, headers }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode === status));
        response.on('error', () => resolve(false));
      });
      request.on('error', () => resolve(false)).end(body?.());
    });
  return async (seconds) => {
    const started = performance.now();
    const result = { requests: 0, failed: 0 };
    const user = async () => {
      while (performance.now() - started < seconds * 1_000) {
        await before?.();
        if (!(await send())) result.failed += 1;
        result.requests += 1;
      }
    };
    await Promise.all(Array.from({ length: connections }, user));
    return { ...result, seconds: (performance.now() - started) / 1_000 };
  };
}
