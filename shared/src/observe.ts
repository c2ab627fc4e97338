import type { IncomingMessage } from 'node:http';
import { type Duplex, finished } from 'node:stream';
import type { Env, Hono } from 'hono';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { durations } from './durations.ts';
import type { AboutRequest, Log } from './log.ts';
import { type Refusal, refusals } from './refusals.ts';
import type { Application, AtOnce } from './serve.ts';

/** A registry with the process's own metrics (memory, CPU, event loop). */
export function createMetrics(): Registry {
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  return metrics;
}

/** What an application says of an answer beyond the answer itself. */
export interface Remark {
  /** The code of the error that it is. */
  error?: string;
  /** Whether it is written as it is made: its line then waits for its end. */
  inPieces?: boolean;
}

const remarks = new WeakMap<Response, Remark>();

/** `response`, of which the log says more; not where it answers HEAD, as Hono makes another one of it. */
export function remarked(response: Response, remark: Remark): Response {
  remarks.set(response, remark);
  return response;
}

/**
 * `app` with one log line and one observation of each request: method, path without its query, status,
 * milliseconds, the proxy's request id, the client's address as the proxy gave it, the code of the error. What `app`
 * answers at once stays so: a middleware would make a promise of it. An answer in pieces is told of when it has ended
 * or was broken off. What the server itself refuses has lines of its own.
 */
export function observed<E extends Env>(
  app: Pick<Hono<E>, 'fetch' | 'getPath' | 'router'> & { atOnce?: AtOnce },
  log: Log,
  metrics: Registry,
): Application {
  const record = recorder(log, metrics);
  const refused = refusals(log);
  const refusedConnections = new WeakMap<Duplex, number>();

  const told = (started: number, route: string, about: About, { headers }: Incoming) => {
    const requestId = headers['x-request-id'];
    const client = headers['x-forwarded-for'];
    record(performance.now() - started, route, { ...about, requestId, client });
  };

  const routeOf = (method: string, path: string) => {
    const [matched] = app.router.match(method === 'HEAD' ? 'GET' : method, path);
    return matched.at(-1)?.[0][1].path ?? 'none';
  };

  return {
    fetch(request, env) {
      const started = performance.now();
      const answer = app.fetch(request, env as E['Bindings']);
      const tell = (response: Response): Response => {
        const { method } = request;
        const { incoming, outgoing } = env;
        // A body that is no HTTP was answered by the server; to the application, its client has gone.
        const status =
          (response.status === 499 && refusedConnections.get(incoming.socket)) || response.status;
        const { error, inPieces } = remarks.get(response) ?? {};
        const path = app.getPath(request);
        const route = status === 404 ? 'none' : routeOf(method, path);
        if (inPieces) {
          finished(outgoing, (premature) => {
            told(started, route, { method, path, status, error, brokenOff: !!premature }, incoming);
          });
        } else told(started, route, { method, path, status, error }, incoming);
        return response;
      };
      return answer instanceof Promise ? answer.then(tell) : tell(answer);
    },
    atOnce(incoming) {
      const started = performance.now();
      const answer = app.atOnce?.(incoming);
      if (answer) {
        const { status, route } = answer;
        told(started, route, { method: incoming.method ?? '', path: route, status }, incoming);
      }
      return answer;
    },
    refused(refusal: Refusal, connection?: Duplex) {
      if (connection) refusedConnections.set(connection, refusal.status);
      refused(refusal);
    },
  };
}

type Incoming = Pick<IncomingMessage, 'headers'>;
type About = Pick<AboutRequest, 'method' | 'path' | 'status' | 'error' | 'brokenOff'>;

/** Makes the observation and writes the line of each request that is over, after so many milliseconds. */
function recorder(log: Log, metrics: Registry) {
  const observations = new Map<string, (seconds: number) => void>();
  const bound = durations(
    metrics,
    'http_request_duration_seconds',
    'Time from the request to its response, or to the end of one in pieces, by method, route and status.',
  );
  return (milliseconds: number, route: string, request: Omit<AboutRequest, 'ms'>) => {
    const { method, status } = request;
    const labels = `${method} ${route} ${status}`;
    let observe = observations.get(labels);
    if (!observe) {
      observe = bound({ method, route, status: `${status}` });
      observations.set(labels, observe);
    }
    observe(milliseconds / 1_000);
    const about = { ...request, ms: Math.round(milliseconds * 1_000) / 1_000 };
    if (status >= 500) log.error(about, 'request');
    else if (log.request) log.request(about);
    else log.info(about, 'request');
  };
}
