import { promisify } from 'node:util';
import { createDeadline, type Deadline } from './deadline.ts';
import { type ErrorCode, ExpansionError } from './expansion-error.ts';
import { expansionFreshUntil } from './lifetime.ts';
import { isWeb, readTarget, resolveLocation, type Target } from './target.ts';

/** Which redirects are followed: 301 and 302, or 303, 307 and 308 as well. */
export type Follow = 'default' | 'all';

/** What a host answered to one request. */
export interface Answer {
  status: number;
  /** The `Location` header, its bytes beyond ASCII percent-encoded; null where there is none. */
  location: string | null;
  /** `GET` where `HEAD` had been turned down. */
  method: 'HEAD' | 'GET';
  addressFamily: 4 | 6 | null;
  /** Milliseconds since 1970 until which this may be remembered. */
  freshUntil: number;
  /** Whether the answer was remembered rather than asked for. */
  cached: boolean;
}

export interface AskOptions {
  follow: Follow;
  /** `HEAD` unless said otherwise. */
  method?: 'GET';
  signal?: AbortSignal | undefined;
  /** Passes over what is remembered. */
  refresh?: boolean | undefined;
}

/**
 * Asks one URL for its headers.
 *
 * @throws ExpansionError
 */
export type Ask = (url: URL, options: AskOptions) => Promise<Answer>;

/** One request of a chain and what it was answered. */
export interface Hop extends Answer {
  url: string;
  milliseconds: number;
  tls: boolean;
  /** Whether it leads from `https` to `http`. */
  downgrade: boolean;
}

/** Why a chain ended, in a word for programs and a sentence for people. */
export interface End {
  code:
    | 'final'
    | 'empty'
    | 'max_redirects'
    | 'loop'
    | 'no_location'
    | 'malformed_location'
    | 'unsupported_scheme'
    | ErrorCode;
  message: string;
  /** Where the last redirect points, as text, when that is nothing to follow. */
  target?: string;
}

export interface Expansion {
  hops: Hop[];
  /** The URL finally reached; null for an empty input. */
  longUrl: string | null;
  redirectCount: number;
  end: End;
  error: { code: ErrorCode; message: string } | null;
  cached: boolean;
  /** Milliseconds since 1970 until which this may be remembered. */
  freshUntil: number;
}

export interface TraceOptions {
  follow: Follow;
  /** Redirects followed before the chain stops at the next location. */
  maxRedirect: number;
  /** Aborted, the expansion stops: nobody waits for it any more. */
  signal?: AbortSignal | undefined;
  /** Told each hop as it is made. */
  onHop?: ((hop: Hop) => void) | undefined;
  /** Passes over what is remembered. */
  refresh?: boolean | undefined;
}

/** Expands one URL; never rejects. Everything round an expansion is a decorator of this one signature. */
export type Trace = (url: string, options: TraceOptions) => Promise<Expansion>;

type Callback = (error: ExpansionError | null, longUrl: string | null, redirectCount: number) => void;

export interface Expand {
  /** @throws TypeError when `url` is no string or `callback` no function. */
  (url: string, callback: Callback): void;
  /** Redirects followed before an expansion stops and returns the last location. */
  maxRedirect: number;
  /** The whole chain behind the same expansion. */
  trace(url: string, options?: Partial<Omit<TraceOptions, 'maxRedirect'>>): Promise<Expansion>;
  [promisify.custom](url: string): Promise<{ longUrl: string | null; redirectCount: number }>;
}

const redirects: Record<Follow, readonly number[]> = {
  default: [301, 302],
  all: [301, 302, 303, 307, 308],
};

/** Milliseconds for one hop: name look-up, connection, and a second request by GET included. */
const hopTime = 3_000;
/** Milliseconds for a whole chain: less than the 10 s after which the proxy gives up. */
const chainTime = 8_000;

/** `expand(url, callback)` over `trace`. */
export function createExpand(trace: Trace, maxRedirect = 5): Expand {
  const traced: Expand['trace'] = (url, options = {}) =>
    trace(url, { follow: 'default', ...options, maxRedirect: expand.maxRedirect });

  const expand: Expand = (url, callback) => {
    if (typeof url !== 'string') throw new TypeError(`expand: the URL is ${url}, not a string`);
    if (typeof callback !== 'function')
      throw new TypeError(`expand: the callback is ${callback}, not a function`);
    // Called outside the promise, so that what a callback throws is not taken for a failed expansion.
    traced(url).then(({ error, longUrl, redirectCount }) =>
      queueMicrotask(() => callback(asError(error), longUrl, redirectCount)),
    );
  };
  expand.maxRedirect = maxRedirect;
  expand.trace = traced;
  expand[promisify.custom] = async (url: string) => {
    if (typeof url !== 'string') throw new TypeError(`expand: the URL is ${url}, not a string`);
    const { error, longUrl, redirectCount } = await traced(url);
    if (error) throw asError(error);
    return { longUrl, redirectCount };
  };
  return expand;
}

/** The undecorated expansion: every hop is asked. */
export function createTrace(ask: Ask): Trace {
  return async (input, { onHop, ...options }) => {
    const url = input.trim();
    const hops: Hop[] = [];
    if (url === '') return whole(hops, nothing);
    using deadline = createDeadline(options.signal);
    try {
      const chain = walk(readTarget(url), inTime(ask, deadline), { ...options, signal: deadline.signal });
      for (;;) {
        const step = await chain.next();
        if (step.done) return whole(hops, step.value);
        hops.push(step.value);
        onHop?.(step.value);
      }
    } catch (error) {
      return failedExpansion(url, error);
    }
  };
}

/** Asks each hop within its own time and that of the whole chain, which begins now. */
function inTime(ask: Ask, deadline: Deadline): Ask {
  const end = performance.now() + chainTime;
  return (url, options) => {
    const left = end - performance.now();
    if (left < hopTime) deadline.set(left, 'The redirects took longer than 8 seconds.');
    else deadline.set(hopTime, `${url.host} did not answer within 3 seconds.`);
    return ask(url, options);
  };
}

/** The expansion of a URL that was never asked. @throws what is no ExpansionError: a fault of ours. */
export function failedExpansion(url: string, error: unknown): Expansion {
  return whole([], failure(error, url, 0));
}

function whole(hops: Hop[], ending: Ending): Expansion {
  const { redirectCount, error } = ending;
  return { hops, ...ending, cached: false, freshUntil: expansionFreshUntil({ hops, redirectCount, error }) };
}

type Ending = Pick<Expansion, 'longUrl' | 'redirectCount' | 'end' | 'error'>;

const nothing = ending(null, 0, 'empty', 'There is no URL to expand.');

/** Walks a chain hop by hop; its return value says how it ended. */
async function* walk(
  start: Target,
  ask: Ask,
  { maxRedirect, ...options }: Omit<TraceOptions, 'onHop'>,
): AsyncGenerator<Hop, Ending, void> {
  const { follow } = options;
  const seen = new Set<string>();
  let current = start;
  let looped = false;
  for (let redirectCount = 0; ; ) {
    seen.add(withoutFragment(current));
    let answer: Answer;
    const started = performance.now();
    try {
      answer = await ask(current.url, options);
    } catch (error) {
      return failure(error, current.text, redirectCount);
    }
    const redirected = redirects[follow].includes(answer.status);
    const next = redirected && answer.location?.trim() ? resolveLocation(answer.location, current) : null;
    yield {
      url: current.text,
      ...answer,
      milliseconds: Math.round((performance.now() - started) * 10) / 10,
      tls: current.url.protocol === 'https:',
      downgrade: current.url.protocol === 'https:' && next?.url.protocol === 'http:',
    };
    if (!redirected) {
      return ending(
        current.text,
        redirectCount,
        'final',
        `The last page answered ${answer.status} and leads no further.`,
      );
    }
    if (!next) return unusable(current, redirectCount, answer);
    if (!isWeb(next.url)) {
      const message = `The last redirect leads to something other than a web page (${next.url.protocol}).`;
      return ending(current.text, redirectCount, 'unsupported_scheme', message, next.text);
    }
    redirectCount += 1;
    current = next;
    looped ||= seen.has(withoutFragment(current));
    if (looped && (follow === 'all' || redirectCount > maxRedirect)) {
      return ending(current.text, redirectCount, 'loop', 'The redirects lead round in a circle.');
    }
    if (redirectCount > maxRedirect) {
      const message = `More than ${maxRedirect} redirects; this is where the last one leads.`;
      return ending(current.text, redirectCount, 'max_redirects', message);
    }
  }
}

function unusable(current: Target, redirectCount: number, { status, location }: Answer): Ending {
  return location?.trim()
    ? ending(
        current.text,
        redirectCount,
        'malformed_location',
        `The ${status} redirect leads to something that is no URL.`,
        location,
      )
    : ending(
        current.text,
        redirectCount,
        'no_location',
        `The ${status} redirect does not say where it leads.`,
      );
}

function ending(
  longUrl: string | null,
  redirectCount: number,
  code: End['code'],
  message: string,
  target?: string,
): Ending {
  return {
    longUrl,
    redirectCount,
    end: target === undefined ? { code, message } : { code, message, target },
    error: null,
  };
}

function failure(error: unknown, longUrl: string, redirectCount: number): Ending {
  if (!(error instanceof ExpansionError)) throw error;
  const { code, message } = error;
  return { longUrl, redirectCount, end: { code, message }, error: { code, message } };
}

function withoutFragment({ url }: Target): string {
  return url.href.slice(0, url.href.length - url.hash.length);
}

function asError(error: Expansion['error']): ExpansionError | null {
  return error && new ExpansionError(error.code, error.message);
}
