import type { IncomingMessage } from 'node:http';
import type { Hono, MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { durations } from './durations.ts';
import type { Log } from './log.ts';
import type { Application, AtOnce } from './serve.ts';

/** A registry with the process's own metrics (memory, CPU, event loop). */
export function createMetrics(): Registry {
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  return metrics;
}

/**
 * `app` with one log line and one observation of each request: method, path without its query, status,
 * milliseconds, the proxy's request id, the client's address as the proxy gave it. What `app` answers at once stays
 * so: a middleware would make a promise of it.
 */
export function observed(
  app: Pick<Hono, 'fetch' | 'getPath' | 'router'> & { atOnce?: AtOnce },
  log: Log,
  metrics: Registry,
): Application {
  const record = recorder(log, metrics);

  return {
    fetch(request, env) {
      const started = performance.now();
      const answer = app.fetch(request, env);
      if (!(answer instanceof Promise)) return told(answer);
      return answer.then(told);

      function told(response: Response): Response {
        tell(started, request.method, app.getPath(request), response.status, env.incoming);
        return response;
      }
    },
    atOnce(incoming) {
      const started = performance.now();
      const answer = app.atOnce?.(incoming);
      const { method = '', url = '' } = incoming;
      if (answer) tell(started, method, url.split('?', 1)[0] as string, answer.status, incoming);
      return answer;
    },
  };

  function tell(
    started: number,
    method: string,
    path: string,
    status: number,
    { headers }: Pick<IncomingMessage, 'headers'>,
  ): void {
    const requestId = headers['x-request-id'];
    const client = headers['x-forwarded-for'];
    record({ started, method, path, route: routeOf(method, path), status, requestId, client });
  }

  function routeOf(method: string, path: string): string | undefined {
    const [matched] = app.router.match(method === 'HEAD' ? 'GET' : method, path);
    return matched.at(-1)?.[0][1].path;
  }
}

/** `observed` as a middleware. */
export function observe(log: Log, metrics: Registry): MiddlewareHandler {
  const record = recorder(log, metrics);
  return async (c, next) => {
    const started = performance.now();
    await next();
    record({
      started,
      method: c.req.method,
      path: c.req.path,
      route: routePath(c, -1),
      status: c.res.status,
      requestId: c.req.header('x-request-id'),
      client: c.req.header('x-forwarded-for'),
    });
  };
}

interface Told {
  /** Milliseconds of `performance.now()`. */
  started: number;
  method: string;
  path: string;
  route: string | undefined;
  status: number;
  requestId: string | string[] | undefined;
  client: string | string[] | undefined;
}

/** Writes the line and makes the observation of each request that is over. */
function recorder(log: Log, metrics: Registry): (request: Told) => void {
  const observing = new Map<string, (seconds: number) => void>();
  const bound = durations(
    metrics,
    'http_request_duration_seconds',
    'Time from the request to its response, by method, route and status.',
  );
  return ({ started, method, path, route = 'none', status, requestId, client }) => {
    const milliseconds = performance.now() - started;
    const known = status === 404 ? 'none' : route;
    const labels = `${method} ${known} ${status}`;
    let observation = observing.get(labels);
    if (!observation) {
      observation = bound({ method, route: known, status: `${status}` });
      observing.set(labels, observation);
    }
    observation(milliseconds / 1_000);
    const ms = Math.round(milliseconds * 1_000) / 1_000;
    const about = { method, path, status, ms, requestId, client };
    if (status >= 500) log.error(about, 'request');
    else if (log.request) log.request(about);
    else log.info(about, 'request');
  };
}
