import { browserSession } from './browser-session.ts';
import { endedExpansion, followChain, plainSession, type Visit } from './chain.ts';
import type { Answer, ExpandUrl, FetchHop, Hop } from './expansion.ts';
import { describeHost, isOtherDomain } from './host.ts';
import { answerFreshUntil } from './lifetime.ts';
import type { Target } from './target.ts';

/** Follows a chain of redirects, and describes each hop. */
export function followRedirects(fetchHop: FetchHop): ExpandUrl {
  return async (start, { onHop, ...options }) => {
    const hops: Hop[] = [];
    let started = performance.now();
    const onVisit = (at: Target, visit: Visit) => {
      const now = performance.now();
      const hop = describeHop(at, visit, now - started);
      started = now;
      hops.push(hop);
      onHop?.(hop);
    };
    const startSession = options.follow === 'all' ? browserSession : plainSession;
    const chain = await followChain(start, fetchHop, startSession, { ...options, onVisit });
    const expansion = endedExpansion(chain.at.text, chain.end, hops, chain.redirectCount);
    return chain.isPersonal ? { ...expansion, freshUntil: 0 } : expansion;
  };
}

function describeHop({ text, url }: Target, { step, answer, wrapper }: Visit, milliseconds: number): Hop {
  const tls = url.protocol === 'https:';
  const next = step.kind ? step.next.url : null;
  return {
    url: text,
    kind: step.kind,
    ...(answer ? factsOf(answer) : unrequested()),
    location: step.location,
    ...(wrapper && { wrapper }),
    milliseconds: Math.round(milliseconds * 10) / 10,
    tls,
    downgrade: tls && next?.protocol === 'http:',
    domainChanged: next !== null && isOtherDomain(url, next),
    ...describeHost(url),
  };
}

/** What is shown of an answer. */
function factsOf({ refresh: _, setCookies: __, ...facts }: Answer) {
  return facts;
}

/** What there is to say of a wrapper. It names the same target for as long as anything is cached. */
function unrequested() {
  const freshUntil = answerFreshUntil(301, {});
  return { status: null, method: null, addressFamily: null, freshUntil, cached: false } as const;
}
