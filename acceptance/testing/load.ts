import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import { openSession } from './session.ts';

/** A request that failed, with what it takes to find it in the logs. */
export interface Failure {
  /** When it was sent: ISO 8601. */
  sent: string;
  milliseconds: number;
  /** Its method and path. */
  request: string;
  /** The status of the response, or the message of the error. */
  result: string;
  /** Undefined where nothing was answered. */
  requestId?: string;
}

export interface Load {
  /** Resolves once `count` more requests have been answered. */
  answered(count: number): Promise<void>;
  /** Ends the load. @returns how many requests there were, and which failed. */
  stop(): Promise<{ requests: number; failures: Failure[] }>;
}

/** Milliseconds between two requests of a connection: without a pause they take both cores from other tests. */
const considerate = rounds({ short: 40, long: 0 });

/**
 * Sends requests over `connections` kept-alive connections, each one request after the other.
 *
 * @param next returns the options and the body of the next request.
 * @param expected the status of a request that did not fail.
 * @param pause milliseconds between two requests of a connection.
 */
export function startRequests(
  connections: number,
  next: () => http.RequestOptions & { body?: string },
  expected: number,
  pause = considerate,
): Load {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections });
  const failures: Failure[] = [];
  let requests = 0;
  let running = true;
  let notify = () => {};

  const worker = async () => {
    while (running) {
      const { body, ...options } = next();
      const sent = new Date();
      const answer = await answerTo(http.request({ agent, host: '127.0.0.1', ...options }).end(body));
      requests += 1;
      if (answer.result !== `${expected}`) {
        const milliseconds = Date.now() - sent.getTime();
        const request = `${options.method ?? 'GET'} ${options.path}`;
        failures.push({ sent: sent.toISOString(), milliseconds, request, ...answer });
      }
      notify();
      if (pause > 0) await sleep(pause);
    }
  };
  const workers = Array.from({ length: connections }, worker);
  return {
    async answered(count) {
      const goal = requests + count;
      await new Promise<void>((resolve) => {
        notify = () => {
          if (requests >= goal) resolve();
        };
      });
    },
    async stop() {
      running = false;
      await Promise.all(workers);
      agent.destroy();
      return { requests, failures };
    },
  };
}

/** Adds tasks through the proxy on `port`, on `connections` keep-alive connections. */
export async function startLoad(port: number, connections: number): Promise<Load> {
  const page = await openSession(port).get('/');
  const cookie = page.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  const _csrf = /name="_csrf" value="([^"]+)"/.exec(page.body)?.[1] ?? '';
  const next = () => {
    const body = new URLSearchParams({ title: 'load', _csrf }).toString();
    const headers = {
      Cookie: cookie,
      'Content-Type': 'application/x-www-form-urlencoded',
      'Content-Length': Buffer.byteLength(body),
    };
    return { port, path: '/task', method: 'POST', headers, body };
  };
  return startRequests(connections, next, 302);
}

/** The status of the response and the id of the request, or the message of the error. */
function answerTo(request: http.ClientRequest): Promise<Pick<Failure, 'result' | 'requestId'>> {
  return new Promise((resolve) => {
    request
      .on('response', (response) => {
        const requestId = response.headersDistinct['x-request-id']?.[0];
        response.resume().on('close', () => {
          const result = response.complete ? `${response.statusCode}` : `${response.statusCode}, cut`;
          resolve({ result, ...(requestId && { requestId }) });
        });
      })
      .on('error', (error) => resolve({ result: error.message }));
  });
}
