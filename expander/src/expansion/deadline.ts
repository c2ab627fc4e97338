import { aborted, ExpansionError } from './errors.ts';

/** Milliseconds for one hop, including name lookup, connection and a second request with GET. */
export const hopTime = 3_000;
/** Milliseconds for a whole chain: less than the proxy's 9 s. */
export const chainTime = 8_000;

const defaults = { hop: hopTime, chain: chainTime };
export type Times = typeof defaults;

/** The deadlines of a chain that starts now, and of each of its hops. They exclude waits for places. */
export function startDeadline(signal?: AbortSignal, times = defaults) {
  const controller = new AbortController();
  const started = performance.now();
  let host = '';
  let waited = 0;
  let waitsSince = 0;
  let hopTimer: NodeJS.Timeout | undefined;
  const expire = (message: string) => controller.abort(new ExpansionError('timeout', message));
  const endHop = () => expire(`${host} did not answer within ${times.hop / 1_000} seconds.`);
  const endChain = () =>
    expire(`No page was reached within ${times.chain / 1_000} seconds; ${host} had not answered yet.`);
  let chainTimer = setTimeout(endChain, times.chain);
  const abort = () => controller.abort(aborted(signal?.reason));
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort);
  const elapsed = () => performance.now() - started - waited;
  const clear = () => {
    clearTimeout(hopTimer);
    clearTimeout(chainTimer);
  };
  return {
    /** Aborts when a hop or the chain times out, or the caller's signal aborts. */
    signal: controller.signal,
    /** Milliseconds since the start, without waits. */
    elapsed,
    /** Starts the timeout of the hop to `url`. */
    startHop(url: URL) {
      host = url.host;
      if (hopTimer) hopTimer.refresh();
      else hopTimer = setTimeout(endHop, times.hop);
    },
    pause() {
      clear();
      waitsSince = performance.now();
    },
    /** Ends a wait: the hop gets its full time, and the chain the remainder. */
    resume() {
      waited += performance.now() - waitsSince;
      hopTimer = setTimeout(endHop, times.hop);
      chainTimer = setTimeout(endChain, times.chain - elapsed());
    },
    end() {
      clear();
      signal?.removeEventListener('abort', abort);
    },
  };
}

/** The result of `work`; `late` if it takes longer. */
export async function within<Result, Late>(
  milliseconds: number,
  work: Promise<Result>,
  late: Late,
): Promise<Result | Late> {
  const timeout = Promise.withResolvers<Late>();
  const timer = setTimeout(timeout.resolve, milliseconds, late);
  try {
    return await Promise.race([work, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}
