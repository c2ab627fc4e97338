import { createHistogram } from 'node:perf_hooks';
import autocannon, { type Options } from 'autocannon';
import type { Contender, Load } from './measure.ts';

export interface HttpContender extends Omit<Contender, 'load'> {
  url: string;
  /** Connections kept open, each with one request at a time under way. */
  connections?: never;
  users?: number;
  opened?: () => Promise<number>;
  /** The status of a right answer; 200 unless said. */
  status?: number;
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  /** The path of the next request, where they differ. */
  path?: () => string;
  /** The body of the next request. */
  body?: () => string;
}

/** A contender that answers HTTP, under as much load as `users` that never pause can make. */
export function overHttp(contender: HttpContender): Contender {
  const { name, processes, opened } = contender;
  return {
    name,
    ...(processes && { processes }),
    ...(opened && { connections: opened }),
    load: (seconds) => cannonade(contender, seconds),
  };
}

async function cannonade(contender: HttpContender, seconds: number): Promise<Load> {
  const { url, users = 32, status: right = 200, method = 'GET', headers = {}, path, body } = contender;
  const options: Options = { url, connections: users, duration: seconds, method, headers, timeout: 20 };
  if (path || body) {
    options.requests = [
      {
        setupRequest: (request) => ({
          ...request,
          ...(path && { path: path() }),
          ...(body && { body: body() }),
        }),
      },
    ];
  }
  // autocannon's own latencies are whole milliseconds; these are microseconds.
  const latencies = createHistogram();
  let failed = 0;
  const { promise, resolve, reject } = Promise.withResolvers<autocannon.Result>();
  const instance = autocannon(options, (error, result) => (error ? reject(error) : resolve(result)));
  instance.on('response', (_client, status, _bytes, milliseconds) => {
    latencies.record(Math.max(1, Math.round(milliseconds * 1_000)));
    if (status !== right) failed += 1;
  });
  const { errors, duration } = await promise;
  return {
    requests: latencies.count,
    failed: failed + errors,
    seconds: duration,
    p50: latencies.percentile(50) / 1_000,
    p99: latencies.percentile(99) / 1_000,
  };
}
