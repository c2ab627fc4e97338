import autocannon, { type Options } from 'autocannon';
import { latencyHistogram } from './latencies.ts';
import type { Candidate, LoadResult } from './measure.ts';

export interface HttpCandidate extends Omit<Candidate, 'load'> {
  url: string;
  /** Keep-alive connections, each with one request in flight. */
  connections?: number;
  /** The status of a correct response. */
  status?: number;
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  /** Returns the path of the next request, if they differ. */
  path?: () => string;
  /** Returns the body of the next request. */
  body?: () => string;
}

/** A candidate that serves HTTP, loaded by autocannon. */
export function httpCandidate(options: HttpCandidate): Candidate {
  return { ...options, load: (seconds) => runAutocannon(options, seconds) };
}

async function runAutocannon(candidate: HttpCandidate, seconds: number): Promise<LoadResult> {
  const {
    url,
    connections = 32,
    status: expected = 200,
    method = 'GET',
    headers = {},
    path,
    body,
  } = candidate;
  const options: Options = { url, connections, duration: seconds, method, headers, timeout: 20 };
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
  // autocannon's own latencies are whole milliseconds.
  const latencies = latencyHistogram();
  let failed = 0;
  const { promise, resolve, reject } = Promise.withResolvers<autocannon.Result>();
  const instance = autocannon(options, (error, result) => (error ? reject(error) : resolve(result)));
  instance.on('response', (_client, status, _bytes, milliseconds) => {
    latencies.record(milliseconds);
    if (status !== expected) failed += 1;
  });
  const { errors, duration } = await promise;
  return { ...latencies.summary(), failed: failed + errors, seconds: duration };
}
