import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context, MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { AnnotatedResponse, Annotations } from './annotated-response.ts';
import type { Log } from './log.ts';
import type { ObservedRequest } from './notable-requests.ts';
import { logRefusals } from './refusals.ts';
import { requestDurations } from './request-durations.ts';
import type { Observer } from './serve.ts';
import { collectSpans } from './spans.ts';

/** Creates a registry with the metrics of the process (memory, CPU, event loop, files) and its version. */
export function createMetrics(service: string, version: string): Registry {
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  // These are gauges with the names of counters; nodejs_active_handles and the others tell the same by type.
  for (const kind of ['handles', 'requests', 'resources']) {
    metrics.removeSingleMetric(`nodejs_active_${kind}_total`);
  }
  new Gauge({
    name: 'longhand_build_info',
    help: 'The version of the service, as a label.',
    labelNames: ['service', 'version'],
    registers: [metrics],
  }).set({ service, version }, 1);
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
 * Observes each request once, when its response is finished or cut: one log line (docs/log.md says what is in it), one
 * observation in `http_server_request_duration_seconds`, and one call of `observed` with what it waited for.
 *
 * A request whose client leaves before the response begins has the status 499 and the error `aborted`.
 */
export function createObserver(
  service: string,
  log: Log,
  metrics: Registry,
  observed: (request: ObservedRequest) => void = () => {},
): Observer {
  const observeDuration = requestDurations(metrics);

  return {
    request(incoming, outgoing, answer) {
      const start = performance.now();
      const { spans } = outgoing;
      outgoing.once('close', () => {
        const milliseconds = performance.now() - start;
        const { status, error, route } = outcome(outgoing);
        const { method = '' } = incoming;
        const requestId = idOf(incoming);
        const seconds = milliseconds / 1_000;
        observeDuration({ method, scheme: schemeOf(incoming), route, status, error }, seconds);
        const line = {
          method,
          path: pathOf(incoming),
          status,
          seconds: Math.round(milliseconds * 1_000) / 1_000_000,
          requestId,
          client: incoming.headers['x-forwarded-for'],
          error,
          ...(wasCut(outgoing) && { cut: true }),
        };
        if (status >= 500) log.error(line, 'request');
        else log.info(line, 'request');
        // A stream is open for as long as somebody reads it, which explains nothing.
        if (requestId === undefined || outgoing.annotations.endless) return;
        const found = { ...(route && { route }), ...(error && { error }) };
        const began = performance.timeOrigin + start;
        observed({ requestId, service, method, ...found, status, start: began, seconds, spans });
      });
      collectSpans(spans, answer);
    },
    refused: logRefusals(log),
  };
}

function outcome({ annotations, headersSent, statusCode }: AnnotatedResponse) {
  const { route, error, refused } = annotations;
  const left = !headersSent;
  const status = refused ?? (left ? 499 : statusCode);
  return { status, error: left ? (error ?? 'aborted') : error, route: status === 404 ? undefined : route };
}

/** The proxy's request id; without the proxy, the trace id that the client sent (W3C Trace Context). */
function idOf({ headers }: IncomingMessage): string | undefined {
  const id = headers['x-request-id'] ?? headers.traceparent?.toString().slice(3, 35);
  return id?.toString();
}

/** As the proxy states it. */
const schemeOf = ({ headers }: IncomingMessage) =>
  headers['x-forwarded-proto'] === 'https' ? 'https' : 'http';

/** The path of a request without its query, which is nobody's business but the application's. */
function pathOf({ url = '' }: IncomingMessage): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}

/** Whether the response had begun and did not reach its end. */
function wasCut({ headersSent, writableFinished }: ServerResponse): boolean {
  return headersSent && !writableFinished;
}
