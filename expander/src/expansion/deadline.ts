import { aborted, ExpansionError } from './errors.ts';

/** Milliseconds for one hop: name lookup, connection and a second request by GET included. */
export const hopTime = 3_000;
/** Milliseconds for a whole chain: less than the 10 s after which the proxy gives up. */
const chainTime = 8_000;

/** Milliseconds for a chain and for each of its hops. */
export interface Times {
  hop: number;
  chain: number;
}

const defaults: Times = { hop: hopTime, chain: chainTime };

export interface Deadline {
  /** Aborted when the time of a hop or of the chain is over, or when the signal that was given is aborted. */
  readonly signal: AbortSignal;
  /** Gives the hop to `url` its time, from now on. */
  startHop(url: URL): void;
  end(): void;
}

/** The deadline of a chain, which starts now, and of each of its hops. */
export function startDeadline(signal?: AbortSignal, times: Times = defaults): Deadline {
  const controller = new AbortController();
  const chainEnd = performance.now() + times.chain;
  let [host, left] = ['', times.chain];
  let timer: NodeJS.Timeout | undefined;
  const expire = () => {
    const message =
      left < times.hop
        ? `The redirects took longer than ${times.chain / 1_000} seconds.`
        : `${host} did not answer within ${times.hop / 1_000} seconds.`;
    controller.abort(new ExpansionError('timeout', message));
  };
  const abort = () => controller.abort(aborted(signal?.reason));
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort);
  return {
    signal: controller.signal,
    startHop(url) {
      host = url.host;
      left = chainEnd - performance.now();
      if (timer && left >= times.hop) return void timer.refresh();
      clearTimeout(timer);
      timer = setTimeout(expire, Math.min(left, times.hop));
    },
    end() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    },
  };
}
