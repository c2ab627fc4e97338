import type { MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import type { Log } from './log.ts';

/** Upper bounds in seconds: fine about the 40 ms of a delayed acknowledgement, wide up to the 10 s of the proxy. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.02, 0.035, 0.06, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** A registry with the process's own metrics (memory, CPU, event loop). */
export function createMetrics(): Registry {
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  return metrics;
}

/**
 * Middleware that writes one log line and makes one observation of each request: method, path without its
 * query, status, milliseconds, the proxy's request id, the client's address as the proxy gave it.
 */
export function observe(log: Log, metrics: Registry): MiddlewareHandler {
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request to its response, by method, route and status.',
    labelNames: ['method', 'route', 'status'],
    buckets,
    registers: [metrics],
  });
  return async (c, next) => {
    const started = performance.now();
    await next();
    const milliseconds = performance.now() - started;
    const { method, path } = c.req;
    const { status } = c.res;
    duration.observe(
      { method, route: status === 404 ? 'none' : routePath(c, -1), status },
      milliseconds / 1_000,
    );
    log[status >= 500 ? 'error' : 'info'](
      {
        method,
        path,
        status,
        ms: Math.round(milliseconds * 1_000) / 1_000,
        requestId: c.req.header('x-request-id'),
        client: c.req.header('x-forwarded-for'),
      },
      'request',
    );
  };
}
