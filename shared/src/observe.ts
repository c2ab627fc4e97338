import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Context, MiddlewareHandler } from 'hono';
import { matchedRoutes } from 'hono/route';
import { Histogram, type Registry } from 'prom-client';
import { durationBuckets } from './durations.ts';
import type { Log } from './log.ts';

/** What the log and the metrics report beyond method, path and status. */
interface Annotations {
  /** The pattern of the matched route, such as `/tasks/:id`. */
  route?: string;
  /** The code of the error that the response reports. */
  error?: string | undefined;
  /** The status with which the server ended a request whose body is not HTTP. */
  refused?: number;
  /** Who sent the request, by the name of the token. */
  user?: string;
}

/** Node's response with the annotations of its request. */
export class AnnotatedResponse extends ServerResponse {
  readonly annotations: Annotations = {};
}

/** Watches a server. */
export interface Observer {
  /** A request has arrived; `answer` hands it to the application. */
  request(incoming: IncomingMessage, outgoing: AnnotatedResponse, answer: () => void): void;
  /**
   * The server answered a request without asking the application: malformed HTTP, an invalid Host. `reason` is a code such as
   * `HPE_INVALID_METHOD`, or a few words.
   */
  refused(status: number, reason: string): void;
}

/** Adds to what the log and the metrics say of the request that `c` answers. */
export function annotate(c: Context, annotations: Annotations): void {
  // Absent where a test calls the application without a server.
  const outgoing = c.env?.outgoing as { annotations?: Annotations } | undefined;
  if (outgoing?.annotations) Object.assign(outgoing.annotations, annotations);
}

/** Names the matched route for `createObserver`: the label has few values, whatever paths clients request. */
export const annotateRoute: MiddlewareHandler = (c, next) => {
  // The first one answers, behind what is for all paths.
  const found = matchedRoutes(c).find(({ path }) => path !== '/*');
  annotate(c, { route: found?.path ?? '/*' });
  return next();
};

/**
 * Observes each request once, when its response is finished or cut: one log line (docs/operate.md says what is in it), and one
 * observation in `http_server_request_duration_seconds`.
 *
 * A request whose client leaves before the response begins has the status 499 and the error `aborted`.
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
    request(incoming, outgoing, answer) {
      const start = performance.now();
      outgoing.once('close', () => {
        const milliseconds = performance.now() - start;
        const became = outcome(outgoing);
        const { status, error } = became;
        durations.observe(labels(incoming, became), milliseconds / 1_000);
        const line = {
          method: incoming.method,
          // Without the query, which may be private.
          path: incoming.url?.split('?', 1)[0],
          status,
          seconds: Math.round(milliseconds * 1_000) / 1_000_000,
          requestId: incoming.headers['x-request-id'],
          client: incoming.headers['x-forwarded-for'],
          user: outgoing.annotations.user,
          error,
          // The response had begun, and did not reach its end.
          ...(outgoing.headersSent && !outgoing.writableFinished && { cut: true }),
        };
        if (status >= 500) log.error(line, 'request');
        else log.info(line, 'request');
      });
      answer();
    },
    refused(status, reason) {
      log[status >= 500 ? 'error' : 'info']({ status, reason }, 'refused');
    },
  };
}

/** What became of a request whose response is closed. */
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
    // As the proxy states it.
    url_scheme: headers['x-forwarded-proto'] === 'https' ? 'https' : 'http',
  };
  // Left out if there is none: Prometheus treats an empty label as absent.
  if (route !== undefined) found.http_route = route;
  if (status >= 500) found.error_type = error ?? `${status}`;
  return found;
}
