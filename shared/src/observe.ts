import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context, MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import type { Log } from './log.ts';
import { logRefusals } from './refusals.ts';
import type { Annotations, Observer } from './serve.ts';

/** Bucket bounds in seconds: fine around the 40 ms of a delayed acknowledgement, wide up to the proxy's 10 s. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.02, 0.035, 0.06, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Creates a registry with the metrics of the process (memory, CPU, event loop). */
export function createMetrics(): Registry {
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  return metrics;
}

/** Adds to what the log and the metrics say of the request that `c` answers. */
export function annotate(c: Context, annotations: Annotations): void {
  // Absent where a test calls the application without a server.
  const outgoing = c.env?.outgoing as { annotations?: Annotations } | undefined;
  if (outgoing?.annotations) Object.assign(outgoing.annotations, annotations);
}

/** Names the matched route for `createObserver`: the label stays one of a few, whatever paths are asked for. */
export const annotateRoute: MiddlewareHandler = async (c, next) => {
  await next();
  annotate(c, { route: routePath(c, -1) });
};

/**
 * Observes each request once, when its response is finished or cut: one log line (method, path without its query,
 * status, milliseconds, the proxy's request id, the client's address as the proxy gave it, the code of an error) and
 * one observation in `http_request_duration_seconds`.
 *
 * A request whose client leaves before the response begins has the status 499 and the error `aborted`.
 */
export function createObserver(log: Log, metrics: Registry): Observer {
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the arrival of a request to the end of its response, by method, route and status.',
    labelNames: ['method', 'route', 'status'],
    buckets,
    registers: [metrics],
  });

  return {
    request(incoming, outgoing) {
      const start = performance.now();
      outgoing.once('close', () => {
        const milliseconds = performance.now() - start;
        const { route = 'none', error, refused } = outgoing.annotations;
        const left = !outgoing.headersSent;
        const status = refused ?? (left ? 499 : outgoing.statusCode);
        const { method = '' } = incoming;
        durations.observe({ method, route: status === 404 ? 'none' : route, status }, milliseconds / 1_000);
        const line = {
          method,
          path: pathOf(incoming),
          status,
          ms: Math.round(milliseconds * 1_000) / 1_000,
          requestId: incoming.headers['x-request-id'],
          client: incoming.headers['x-forwarded-for'],
          error: left ? (error ?? 'aborted') : error,
          ...(wasCut(outgoing) && { cut: true }),
        };
        if (status >= 500) log.error(line, 'request');
        else log.info(line, 'request');
      });
    },
    refused: logRefusals(log),
  };
}

/** The path of a request without its query, which is nobody's business but the application's. */
function pathOf({ url = '' }: IncomingMessage): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}

/** Whether the response had begun and did not reach its end. */
function wasCut({ headersSent, writableFinished }: ServerResponse): boolean {
  return headersSent && !writableFinished;
}
