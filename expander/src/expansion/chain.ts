import { startDeadline, type Times } from './deadline.ts';
import { ExpansionError, errorLifetimes } from './errors.ts';
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

/** Follows a chain of redirects, hop by hop, until its deadline. */
export function followRedirects(fetchHop: FetchHop, times?: Times): FollowRedirects {
  return async (start, { onHop, maxRedirect, ...options }) => {
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
        const visit = await session.visit(at);
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
        if ((isLast || options.follow === 'all') && session.repeats(at)) return ended(loop);
        if (isLast) return ended(tooManyRedirects(maxRedirect));
      }
    };
    return untilError(follow, ended).finally(deadline.end);
  };
}

/** Calls `expand`, and `ended` if that throws an ExpansionError. Other errors are bugs. */
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
    message: `The limit is ${maxRedirect} redirect${maxRedirect === 1 ? '' : 's'}; this URL is the target of the next one.`,
  };
}

/** An expansion that ended or failed at `longUrl`. */
export function endedExpansion(
  longUrl: string | null,
  end: End | ExpansionError,
  hops: Hop[] = [],
  redirectCount = 0,
): Expansion {
  const chain = { hops, longUrl, redirectCount };
  if (!(end instanceof ExpansionError)) {
    const cached = hops.length > 0 && hops.every((hop) => hop.cached || hop.status === null);
    return { ...chain, end, error: null, cached, ...expansionLifetime(chain) };
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
    ...(response ? factsOf(response) : unrequested(wrapper ? 301 : 307)),
    location: step.location,
    ...(wrapper && { wrapper }),
    milliseconds: Math.round(milliseconds * 10) / 10,
    tls,
    downgrade: tls && next?.protocol === 'http:',
    domainChanged: next !== null && isOtherDomain(url, next),
    ...describeHost(url),
  };
}

/** The public facts of a response. */
function factsOf({ refresh: _, setCookies: __, strictTransport: ___, source: ____, ...facts }: HopResponse) {
  return facts;
}

/** The facts of a hop without a request. A wrapper is permanent (301), HSTS is not (307). */
function unrequested(status: 301 | 307) {
  const freshUntil = responseFreshUntil(status, {});
  return { status: null, method: null, addressFamily: null, freshUntil, cached: false } as const;
}
