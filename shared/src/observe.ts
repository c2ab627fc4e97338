import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Context } from 'hono';
import { Histogram, type Registry } from 'prom-client';
import { durationBuckets } from './durations.ts';
import type { Log } from './log.ts';

/** Fields that the application adds to a request's log line and metrics. */
interface Annotations {
  /** The route's pattern, such as `/tasks/:id`. A path would not do as a label, because the number of paths is unlimited. */
  route?: string;
  error?: string | undefined;
  /** Status of the server's response to a malformed body. */
  refused?: number;
  user?: string;
}

/** A response that carries log and metrics fields. */
export class AnnotatedResponse extends ServerResponse {
  readonly annotations: Annotations = {};
}

export type Observer = ReturnType<typeof createObserver>;

export function annotate(c: Context, annotations: Annotations): void {
  // Tests may call the application without a server.
  const outgoing = c.env?.outgoing as { annotations?: Annotations } | undefined;
  if (outgoing?.annotations) Object.assign(outgoing.annotations, annotations);
}

/**
 * Creates an observer. For each finished or aborted response, the observer writes one log line (see docs/operate.md) and adds one
 * observation to `http_server_request_duration_seconds`. The status is 499 and the error `aborted` if the client disconnects before
 * the response begins.
 */
export function createObserver(log: Log, metrics: Registry) {
  const durations = new Histogram({
    name: 'http_server_request_duration_seconds',
    help: 'Time from the arrival of a request to the end of its response.',
    labelNames: [
      'http_request_method',
      'http_response_status_code',
      'http_route',
      'url_scheme',
      'error_type',
    ],
    buckets: durationBuckets,
    registers: [metrics],
  });

  return {
    request(incoming: IncomingMessage, outgoing: AnnotatedResponse) {
      const start = performance.now();
      outgoing.once('close', () => {
        const milliseconds = performance.now() - start;
        const { route, refused, user } = outgoing.annotations;
        const status = refused ?? (outgoing.headersSent ? outgoing.statusCode : 499);
        const error = outgoing.annotations.error ?? (outgoing.headersSent ? undefined : 'aborted');
        durations.observe(labels(incoming, status, route, error), milliseconds / 1_000);
        const line = {
          method: incoming.method,
          // The query may be private.
          path: incoming.url?.split('?', 1)[0],
          status,
          seconds: Math.round(milliseconds * 1_000) / 1_000_000,
          requestId: incoming.headers['x-request-id'],
          client: incoming.headers['x-forwarded-for'],
          user,
          error,
          ...(outgoing.headersSent && !outgoing.writableFinished && { cut: true }),
        };
        if (status >= 500) log.error(line, 'request');
        else log.info(line, 'request');
      });
    },
    /** Logs that the server refused a malformed request. `reason` is an error code, such as `HPE_INVALID_METHOD`, or a message. */
    refused(status: number, reason: string) {
      log[status >= 500 ? 'error' : 'info']({ status, reason }, 'refused');
    },
  };
}

/** HTTP methods known to OpenTelemetry's conventions. Every other method is recorded as `_OTHER`. */
const methods = new Set('GET HEAD POST PUT DELETE CONNECT OPTIONS TRACE PATCH QUERY'.split(' '));

/** Labels from OpenTelemetry's HTTP conventions (1.44). Client input cannot create new label values. */
function labels({ method = '', headers }: IncomingMessage, status: number, route?: string, error?: string) {
  const found: Record<string, string | number> = {
    http_request_method: methods.has(method) ? method : '_OTHER',
    http_response_status_code: status,
    url_scheme: headers['x-forwarded-proto'] === 'https' ? 'https' : 'http',
  };
  // Prometheus treats an empty label as absent.
  if (route !== undefined && status !== 404) found.http_route = route;
  if (status >= 500) found.error_type = error ?? `${status}`;
  return found;
}
