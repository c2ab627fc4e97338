import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Context, MiddlewareHandler } from 'hono';
import { matchedRoutes } from 'hono/route';
import { Histogram, type Registry } from 'prom-client';
import { durationBuckets } from './durations.ts';
import type { Log } from './log.ts';

/** Fields of the log and the metrics beyond method, path and status. */
interface Annotations {
  /** The pattern of the matched route, such as `/tasks/:id`. */
  route?: string;
  /** The code of the error that the response reports. */
  error?: string | undefined;
  /** The status that the server itself sent because the request body was not valid HTTP. */
  refused?: number;
  /** The name of the client's token. */
  user?: string;
}

/** Node's response with the annotations of its request. */
export class AnnotatedResponse extends ServerResponse {
  readonly annotations: Annotations = {};
}

/** Observes a server. */
export interface Observer {
  /** A request has arrived. */
  request(incoming: IncomingMessage, outgoing: AnnotatedResponse): void;
  /**
   * The server refused a request that never reached the application: malformed HTTP, an invalid Host. `reason` is a code such
   * as `HPE_INVALID_METHOD`, or a few words.
   */
  refused(status: number, reason: string): void;
}

/** Adds fields to the log line and the metrics of the request. */
export function annotate(c: Context, annotations: Annotations): void {
  // Absent if a test calls the application without a server.
  const outgoing = c.env?.outgoing as { annotations?: Annotations } | undefined;
  if (outgoing?.annotations) Object.assign(outgoing.annotations, annotations);
}

/** Passes the matched route to the observer, so that clients cannot create label values with made-up paths. */
export const annotateRoute: MiddlewareHandler = (c, next) => {
  // The first route responds; middleware has the path `/*`.
  const found = matchedRoutes(c).find(({ path }) => path !== '/*');
  annotate(c, { route: found?.path ?? '/*' });
  return next();
};

/**
 * Observes each request once, when its response is finished or cut: one log line (its fields are in docs/operate.md) and one
 * observation in `http_server_request_duration_seconds`. If the client leaves before the response begins, the status is 499
 * and the error `aborted`.
 */
export function createObserver(log: Log, metrics: Registry): Observer {
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
    request(incoming, outgoing) {
      const start = performance.now();
      outgoing.once('close', () => {
        const milliseconds = performance.now() - start;
        const result = outcome(outgoing);
        const { status, error } = result;
        durations.observe(labels(incoming, result), milliseconds / 1_000);
        const line = {
          method: incoming.method,
          // The query may be private.
          path: incoming.url?.split('?', 1)[0],
          status,
          seconds: Math.round(milliseconds * 1_000) / 1_000_000,
          requestId: incoming.headers['x-request-id'],
          client: incoming.headers['x-forwarded-for'],
          user: outgoing.annotations.user,
          error,
          ...(outgoing.headersSent && !outgoing.writableFinished && { cut: true }),
        };
        if (status >= 500) log.error(line, 'request');
        else log.info(line, 'request');
      });
    },
    refused(status, reason) {
      log[status >= 500 ? 'error' : 'info']({ status, reason }, 'refused');
    },
  };
}

/** The result of a request whose response is closed. */
function outcome({ annotations, headersSent, statusCode }: AnnotatedResponse) {
  const { route, error, refused } = annotations;
  const left = !headersSent;
  const status = refused ?? (left ? 499 : statusCode);
  return { status, error: left ? (error ?? 'aborted') : error, route: status === 404 ? undefined : route };
}

type Outcome = ReturnType<typeof outcome>;

/** The methods that OpenTelemetry's HTTP conventions know. Any other one is `_OTHER`. */
const methods = new Set('GET HEAD POST PUT DELETE CONNECT OPTIONS TRACE PATCH QUERY'.split(' '));

/** The labels of OpenTelemetry's HTTP conventions (1.44): each has few values, whatever clients send. */
function labels({ method = '', headers }: IncomingMessage, { status, error, route }: Outcome) {
  const found: Record<string, string | number> = {
    http_request_method: methods.has(method) ? method : '_OTHER',
    http_response_status_code: status,
    url_scheme: headers['x-forwarded-proto'] === 'https' ? 'https' : 'http',
  };
  // Left out if there is none: Prometheus treats an empty label as absent.
  if (route !== undefined) found.http_route = route;
  if (status >= 500) found.error_type = error ?? `${status}`;
  return found;
}
