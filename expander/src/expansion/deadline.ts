import { aborted, ExpansionError } from './errors.ts';

/** Maximum milliseconds for one hop, including the name lookup, the connection and a possible GET request. */
export const hopTime = 3_000;
/** Maximum milliseconds for a whole chain. The proxy times out after 9 s. */
export const chainTime = 8_000;

const defaults = { hop: hopTime, chain: chainTime };
export type Times = typeof defaults;

/** The timeouts of a chain and of its current hop. They exclude the time spent waiting for slots. */
export class Deadline {
  readonly #times: Times;
  readonly #controller = new AbortController();
  readonly #callersSignal: AbortSignal | undefined;
  readonly #started = performance.now();
  /** Milliseconds spent in waits that have ended. */
  #waited = 0;
  #waitsSince = 0;
  /** The host of the current hop. */
  #host = '';
  #hopTimer: NodeJS.Timeout | undefined;
  #chainTimer: NodeJS.Timeout | undefined;

  constructor(signal?: AbortSignal, times = defaults) {
    this.#times = times;
    this.#callersSignal = signal;
    this.#chainTimer = setTimeout(this.#endChain, times.chain);
    if (signal?.aborted) this.#abort();
    signal?.addEventListener('abort', this.#abort);
  }

  /** Aborts when a hop or the chain times out, or when the caller's signal aborts. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Returns the milliseconds since the start, excluding waits. */
  elapsed(): number {
    return performance.now() - this.#started - this.#waited;
  }

  /** Starts the timeout of the hop to `url`. */
  startHop(url: URL) {
    this.#host = url.host;
    if (this.#hopTimer) this.#hopTimer.refresh();
    else this.#hopTimer = setTimeout(this.#endHop, this.#times.hop);
  }

  /** Stops both timeouts during a wait. */
  pause() {
    this.#clear();
    this.#waitsSince = performance.now();
  }

  /** Restarts the hop timeout and resumes the chain timeout after a wait. */
  resume() {
    this.#waited += performance.now() - this.#waitsSince;
    this.#hopTimer = setTimeout(this.#endHop, this.#times.hop);
    this.#chainTimer = setTimeout(this.#endChain, this.#times.chain - this.elapsed());
  }

  /** Stops the timeouts for good. */
  end() {
    this.#clear();
    this.#callersSignal?.removeEventListener('abort', this.#abort);
  }

  readonly #abort = () => this.#controller.abort(aborted(this.#callersSignal?.reason));

  readonly #endHop = () =>
    this.#expire(`${this.#host} did not respond within ${this.#times.hop / 1_000} seconds.`);

  readonly #endChain = () => {
    const seconds = this.#times.chain / 1_000;
    this.#expire(`No page was reached within ${seconds} seconds; ${this.#host} had not responded yet.`);
  };

  #expire(message: string) {
    this.#controller.abort(new ExpansionError('timeout', message));
  }

  #clear() {
    clearTimeout(this.#hopTimer);
    clearTimeout(this.#chainTimer);
  }
}
