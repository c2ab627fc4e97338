import { aborted, ExpansionError } from './errors.ts';
import type { FetchHop } from './expansion.ts';

/** Milliseconds for one hop: name lookup, connection and a second request by GET included. */
export const hopTime = 3_000;
/** Milliseconds for a whole chain: less than the 10 s after which the proxy gives up. */
const chainTime = 8_000;

/** Gives each hop its own deadline and that of the whole chain, which starts now. */
export function withDeadlines(fetchHop: FetchHop): FetchHop {
  const chainEnd = performance.now() + chainTime;
  return async (url, options) => {
    const { signal } = options;
    const deadline = new AbortController();
    const abort = () => deadline.abort(aborted(signal?.reason));
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort);
    const left = chainEnd - performance.now();
    const message =
      left < hopTime
        ? 'The redirects took longer than 8 seconds.'
        : `${url.host} did not answer within 3 seconds.`;
    const timer = setTimeout(
      () => deadline.abort(new ExpansionError('timeout', message)),
      Math.min(left, hopTime),
    );
    try {
      return await fetchHop(url, { ...options, signal: deadline.signal });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  };
}
