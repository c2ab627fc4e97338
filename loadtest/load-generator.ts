import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { httpAgent } from '@longhand/shared/agent.ts';

/** A request and its expected response. */
export interface Planned {
  url: string;
  /** GET by default, POST with a body. */
  method?: string;
  headers?: http.OutgoingHttpHeaders;
  body?: string;
  /** Expected status, by default 200. */
  expected?: number;
  /** Expected body, by default any. */
  expectedBody?: string;
}

export interface Outcome {
  /** End of the request (ms since 1970). */
  at: number;
  milliseconds: number;
  /** 0 if there was no complete response. */
  status: number;
  right: boolean;
  error?: string;
}

/** Either a number of connections with a `pause` between requests (ms), or a constant rate (requests per second). */
type Pace = { connections: number; pause?: number } | { rate: number };

/** Maximum time without data before a request fails (ms). */
const timeout = 15_000;

const agent = httpAgent({ maxSockets: Number.POSITIVE_INFINITY, maxTotalSockets: Number.POSITIVE_INFINITY });

/** Starts sending the requests that `next` returns. */
export function startLoad<Plan extends Planned>(next: (i: number) => Plan | Promise<Plan>, pace: Pace) {
  const ended: (Plan & Outcome)[] = [];
  let started = 0;
  let running = true;
  let notify = () => {};
  const sendNext = async () => {
    const planned = await next(started++);
    ended.push({ ...planned, ...(await send(planned)) });
    notify();
  };
  const connection = async (pause: number) => {
    while (running) {
      await sendNext();
      if (pause > 0) await sleep(pause);
    }
  };
  const constant = async (rate: number) => {
    const sent: Promise<void>[] = [];
    for (; running; await sleep(1_000 / rate)) sent.push(sendNext());
    await Promise.all(sent);
  };
  const work =
    'rate' in pace
      ? [constant(pace.rate)]
      : Array.from({ length: pace.connections }, () => connection(pace.pause ?? 0));
  return {
    /** Waits for `count` more completed requests. */
    async completed(count: number): Promise<void> {
      const goal = ended.length + count;
      await new Promise<void>((resolve) => {
        notify = () => {
          if (ended.length >= goal) resolve();
        };
      });
    },
    /** Stops the load, waits for the requests in flight, and returns all requests. */
    async stop(): Promise<(Plan & Outcome)[]> {
      running = false;
      await Promise.all(work);
      return ended;
    },
  };
}

/** Sends one request on a keep-alive connection. */
export function send({
  url,
  headers,
  body,
  expected = 200,
  expectedBody,
  ...planned
}: Planned): Promise<Outcome> {
  const { method = body === undefined ? 'GET' : 'POST' } = planned;
  const start = Date.now();
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const end = (outcome: Pick<Outcome, 'status' | 'right' | 'error'>) => {
    const at = Date.now();
    resolve({ at, milliseconds: at - start, ...outcome });
  };
  const request = http.request(url, { agent, method, headers, timeout });
  request
    .on('timeout', () => request.destroy(new Error(`silent for ${timeout} ms`)))
    .on('error', ({ message }) => end({ status: 0, right: false, error: message }))
    .on('response', (response) => {
      let text = '';
      if (expectedBody === undefined) response.resume();
      else
        response.setEncoding('utf8').on('data', (part) => {
          text += part;
        });
      response.on('close', () => {
        const { complete, statusCode: status = 0 } = response;
        if (!complete) return end({ status: 0, right: false, error: `cut after ${status}` });
        end({ status, right: status === expected && text === (expectedBody ?? '') });
      });
    })
    .end(body);
  return promise;
}
