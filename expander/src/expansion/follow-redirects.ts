import { expansionError } from './errors.ts';
import {
  type Answer,
  type End,
  type ExpandUrl,
  endedExpansion,
  type FetchHop,
  failedExpansion,
  type Hop,
} from './expansion.ts';
import { answerFreshUntil } from './lifetime.ts';
import { isOtherDomain } from './registrable-domain.ts';
import { startSession, type Visit } from './session.ts';
import type { Target } from './target.ts';

/** Follows a chain of redirects hop by hop. */
export function followRedirects(fetchHop: FetchHop): ExpandUrl {
  return async (start, { maxRedirect, onHop, ...options }) => {
    const session = startSession(fetchHop, options);
    const hops: Hop[] = [];
    let current = start;
    for (let redirectCount = 0, looped = false; ; ) {
      const end = (at: Target, reason: End) =>
        session.settle(endedExpansion(at.text, reason, hops, redirectCount));
      const started = performance.now();
      let visit: Visit;
      try {
        visit = await session.visit(current);
      } catch (error) {
        const failure = expansionError(error);
        return session.settle(failedExpansion(current.text, failure, hops, redirectCount));
      }
      const { step } = visit;
      const hop = describeHop(current, visit, performance.now() - started);
      hops.push(hop);
      onHop?.(hop);
      if (!step.kind) return end(step.at, step.end);
      redirectCount += 1;
      looped ||= session.wasVisited(step.next);
      current = step.next;
      if (looped && options.follow === 'all') return end(current, loop);
      if (redirectCount > maxRedirect) return end(current, looped ? loop : tooManyRedirects(maxRedirect));
    }
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

const loop: End = { code: 'loop', message: 'The redirects form a loop.' };

function tooManyRedirects(maxRedirect: number): End {
  return {
    code: 'max_redirects',
    message: `There are more than ${maxRedirect} redirects; this is the target of the last one.`,
  };
}
