import { promisify } from 'node:util';
import { createDeadline, type Deadline } from './deadline.ts';
import type { Answer, Ask, End, Expansion, Follow, Hop, Trace, TraceOptions } from './expansion.ts';
import { ExpansionError } from './expansion-error.ts';
import { expansionFreshUntil, failureFreshUntil } from './lifetime.ts';
import { isWeb, readTarget, resolveLocation, type Target, withoutFragment } from './target.ts';

type Callback = (error: ExpansionError | null, longUrl: string | null, redirectCount: number) => void;

export interface Expand {
  /** @throws TypeError when `url` is no string or `callback` no function. */
  (url: string, callback: Callback): void;
  /** Redirects followed before an expansion stops and returns the last location. */
  maxRedirect: number;
  /** The whole chain behind the same expansion. */
  trace(url: string, options?: Partial<Omit<TraceOptions, 'maxRedirect'>>): ReturnType<Trace>;
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
    trace(url.trim(), { ...options, follow: options.follow ?? 'default', maxRedirect: expand.maxRedirect });

  const expand: Expand = (url, callback) => {
    if (typeof url !== 'string') throw new TypeError(`expand: the URL is ${url}, not a string`);
    if (typeof callback !== 'function')
      throw new TypeError(`expand: the callback is ${callback}, not a function`);
    // Called outside the promise, so that what a callback throws is not taken for a failed expansion.
    Promise.resolve(traced(url)).then(({ error, longUrl, redirectCount }) =>
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
  return async (url, options) => {
    const hops: Hop[] = [];
    if (url === '') return whole(hops, nothing);
    using deadline = createDeadline(options.signal);
    const tell = (hop: Hop) => {
      hops.push(hop);
      options.onHop?.(hop);
    };
    try {
      return whole(
        hops,
        await walk(readTarget(url), inTime(ask, deadline), { ...options, signal: deadline.signal }, tell),
      );
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
  const { redirectCount, freshUntil = expansionFreshUntil({ hops, redirectCount }) } = ending;
  return { hops, ...ending, cached: false, freshUntil };
}

/** How a chain ended; what failed says itself how long it may be remembered. */
type Ending = Pick<Expansion, 'longUrl' | 'redirectCount' | 'end' | 'error'> &
  Partial<Pick<Expansion, 'freshUntil'>>;

const nothing = ending(null, 0, 'empty', 'There is no URL to expand.');

/** Walks a chain hop by hop; says how it ended. */
async function walk(
  start: Target,
  ask: Ask,
  { maxRedirect, follow, signal, refresh }: TraceOptions,
  tell: (hop: Hop) => void,
): Promise<Ending> {
  const options = { follow, signal, refresh };
  const seen = new Set<string>();
  let current = start;
  for (let redirectCount = 0, looped = false; ; ) {
    seen.add(withoutFragment(current.url));
    const started = performance.now();
    let answer: Answer;
    try {
      answer = await ask(current.url, options);
    } catch (error) {
      return failure(error, current.text, redirectCount);
    }
    const redirected = redirects[follow].includes(answer.status);
    const next = redirected && answer.location?.trim() ? resolveLocation(answer.location, current) : null;
    tell(hop(current, answer, performance.now() - started, next));
    if (!redirected) return final(current, redirectCount, answer);
    if (!next || !isWeb(next.url)) return unusable(current, redirectCount, answer, next);
    current = next;
    redirectCount += 1;
    looped ||= seen.has(withoutFragment(current.url));
    if (looped && (follow === 'all' || redirectCount > maxRedirect)) {
      return ending(current.text, redirectCount, 'loop', 'The redirects lead round in a circle.');
    }
    if (redirectCount > maxRedirect) {
      const message = `More than ${maxRedirect} redirects; this is where the last one leads.`;
      return ending(current.text, redirectCount, 'max_redirects', message);
    }
  }
}

function hop(current: Target, answer: Answer, milliseconds: number, next: Target | null): Hop {
  const tls = current.url.protocol === 'https:';
  return {
    url: current.text,
    ...answer,
    milliseconds: Math.round(milliseconds * 10) / 10,
    tls,
    downgrade: tls && next?.url.protocol === 'http:',
  };
}

function final(current: Target, redirectCount: number, { status }: Answer): Ending {
  const message = `The last page answered ${status} and leads no further.`;
  return ending(current.text, redirectCount, 'final', message);
}

/** The end at a redirect that leads nowhere, or not to the web. */
function unusable(
  { text }: Target,
  redirectCount: number,
  { status, location }: Answer,
  next: Target | null,
): Ending {
  if (next) {
    const message = `The last redirect leads to something other than a web page (${next.url.protocol}).`;
    return ending(text, redirectCount, 'unsupported_scheme', message, next.text);
  }
  if (location?.trim()) {
    const message = `The ${status} redirect leads to something that is no URL.`;
    return ending(text, redirectCount, 'malformed_location', message, location);
  }
  return ending(text, redirectCount, 'no_location', `The ${status} redirect does not say where it leads.`);
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
  const freshUntil = failureFreshUntil(error);
  return { longUrl, redirectCount, end: { code, message }, error: { code, message }, freshUntil };
}

function asError(error: Expansion['error']): ExpansionError | null {
  return error && new ExpansionError(error.code, error.message);
}
