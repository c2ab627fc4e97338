import { aborted, ExpansionError, errorLifetimes } from './errors.ts';
import {
  type End,
  type Expansion,
  type FetchHop,
  type FetchHopOptions,
  type FollowRedirects,
  type Hop,
  type HopResponse,
  isVoid,
  type Source,
} from './expansion.ts';
import { describeHost, isOtherDomain } from './host.ts';
import { expansionLifetime, responseFreshUntil } from './lifetime.ts';
import { startSession, type Visit } from './session.ts';
import type { Target } from './target.ts';

/** Max milliseconds for one hop, including the name lookup, the connection and a possible GET request. */
export const hopTime = 3_000;
/** Max milliseconds for a whole chain. The proxy times out after 9 s. */
export const chainTime = 8_000;

const defaults = { hop: hopTime, chain: chainTime };
type Times = typeof defaults;

/** Creates a function that follows a chain of redirects hop by hop, until a timeout. @param inFlight counts chains in progress. */
export function followRedirects(
  fetchHop: FetchHop,
  { times, inFlight }: { times?: Times; inFlight?: { inc(): void; dec(): void } } = {},
): FollowRedirects {
  return async (start, { onHop, maxRedirect, ...options }) => {
    inFlight?.inc();
    const deadline = startDeadline(options.signal, times);
    const onWait: FetchHopOptions['onWait'] = (queue) => {
      if (queue) deadline.pause();
      else deadline.resume();
      options.onWait?.(queue);
    };
    const session = startSession(
      (url, request) => {
        deadline.startHop(url);
        return fetchHop(url, request);
      },
      { ...options, signal: deadline.signal, onWait },
    );
    const hops: Hop[] = [];
    const sources: Source[] = [];
    let at = start;
    let redirectCount = 0;
    let started = deadline.elapsed();
    const ended = (end: End | ExpansionError) => {
      const expansion = {
        ...endedExpansion(at.text, end, hops, redirectCount),
        ...(sources[0] && { sources }),
      };
      const mayBeCached = !session.isPersonal() && !isVoid(expansion);
      return mayBeCached ? expansion : { ...expansion, freshUntil: 0, staleUntil: 0 };
    };
    const follow = async () => {
      for (;;) {
        const isRepeated = session.repeats(at);
        const visit = await session.visit(at, redirectCount === maxRedirect);
        const now = deadline.elapsed();
        const hop = describeHop(at, visit, now - started);
        started = now;
        hops.push(hop);
        if (visit.response?.source) sources.push(visit.response.source);
        onHop?.(hop);
        at = visit.step.at;
        if (visit.step.end) return ended(visit.step.end);
        if (visit.step.kind !== 'hsts') redirectCount += 1;
        const isLast = redirectCount > maxRedirect;
        // Like browsers, follow=all requests a URL again, because the second response may differ.
        const endsLoop = isLast || (isRepeated && options.follow === 'all');
        if (endsLoop && session.repeats(at)) return ended(loop);
        if (isLast) return ended(tooManyRedirects(maxRedirect));
      }
    };
    return untilError(follow, ended).finally(() => {
      deadline.end();
      inFlight?.dec();
    });
  };
}

/** Starts the timeouts of a chain and its hops. The timeouts exclude the time spent waiting for slots. */
function startDeadline(signal?: AbortSignal, times = defaults) {
  const controller = new AbortController();
  const started = performance.now();
  let host = '';
  let waited = 0;
  let waitsSince = 0;
  let hopTimer: NodeJS.Timeout | undefined;
  const expire = (message: string) => controller.abort(new ExpansionError('timeout', message));
  const endHop = () => expire(`${host} did not respond within ${times.hop / 1_000} seconds.`);
  const endChain = () =>
    expire(`No page was reached within ${times.chain / 1_000} seconds; ${host} had not responded yet.`);
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
    /** Aborts when a hop or the chain times out, or when the caller's signal aborts. */
    signal: controller.signal,
    /** Returns the milliseconds since the start, excluding waits. */
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
    /** Restarts the hop timeout and resumes the chain timeout after a wait. */
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

/** Returns the result of `expand`, or calls `ended` if `expand` throws an ExpansionError. Rethrows all other errors. */
export async function untilError(
  expand: () => Promise<Expansion>,
  ended: (error: ExpansionError) => Expansion,
): Promise<Expansion> {
  try {
    return await expand();
  } catch (error) {
    if (error instanceof ExpansionError) return ended(error);
    throw error;
  }
}

const loop: End = { code: 'loop', message: 'The redirects form a loop.' };

function tooManyRedirects(maxRedirect: number): End {
  return {
    code: 'max_redirects',
    message: `The limit is ${maxRedirect} redirect${maxRedirect === 1 ? '' : 's'}; this URL is the target of the next redirect.`,
  };
}

/** Creates an expansion that ended or failed at `longUrl`. */
export function endedExpansion(
  longUrl: string | null,
  end: End | ExpansionError,
  hops: Hop[] = [],
  redirectCount = 0,
): Expansion {
  const chain = { hops, longUrl, redirectCount };
  if (!(end instanceof ExpansionError)) {
    const cached = hops.length > 0 && hops.every((hop) => hop.cached || hop.status === null);
    return { ...chain, end, error: null, cached, ...expansionLifetime({ ...chain, end }) };
  }
  const { code, message, facts } = end;
  const error = { code, message, ...facts };
  const freshUntil = Date.now() + errorLifetimes[code] * 1_000;
  return { ...chain, end: error, error, cached: false, freshUntil, staleUntil: freshUntil };
}

function describeHop({ text, url }: Target, { step, response, wrapper }: Visit, milliseconds: number): Hop {
  const tls = url.protocol === 'https:';
  const next = step.kind ? step.at.url : null;
  return {
    url: text,
    kind: step.kind,
    ...(response ? publicFields(response) : unrequested(wrapper ? 301 : 307)),
    location: step.location,
    ...(wrapper && { wrapper }),
    milliseconds: Math.round(milliseconds * 10) / 10,
    tls,
    downgrade: tls && next?.protocol === 'http:',
    domainChanged: next !== null && isOtherDomain(url, next),
    ...describeHost(url),
  };
}

/** Returns the fields of a response that users may see. */
function publicFields({
  refresh: _,
  setCookies: __,
  clearsCookies: ___,
  strictTransport: ____,
  source: _____,
  ...fields
}: HopResponse) {
  return fields;
}

/** Returns the response fields of a hop without a request. `status` sets the lifetime: 301 for a wrapper, 307 for HSTS. */
function unrequested(status: 301 | 307) {
  const freshUntil = responseFreshUntil(status, {});
  return { status: null, method: null, addressFamily: null, freshUntil, cached: false } as const;
}
