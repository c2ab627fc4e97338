import { withDeadlines } from './deadline.ts';
import { expansionError } from './errors.ts';
import {
  type Answer,
  type End,
  type ExpandUrl,
  endedExpansion,
  type FetchHop,
  type Follow,
  failedExpansion,
  type Hop,
} from './expansion.ts';
import { isWeb, resolveLocation, type Target, withoutFragment } from './target.ts';

const redirects: Record<Follow, readonly number[]> = {
  default: [301, 302],
  all: [301, 302, 303, 307, 308],
};

/** Follows a chain of redirects hop by hop. */
export function followRedirects(fetchHop: FetchHop): ExpandUrl {
  return async (start, { maxRedirect, onHop, ...options }) => {
    const { follow } = options;
    const fetchInTime = withDeadlines(fetchHop);
    const hops: Hop[] = [];
    const seen = new Set<string>();
    let current = start;
    for (let redirectCount = 0, looped = false; ; ) {
      seen.add(withoutFragment(current.url));
      const started = performance.now();
      let answer: Answer;
      try {
        answer = await fetchInTime(current.url, options);
      } catch (error) {
        return failedExpansion(current.text, expansionError(error), hops, redirectCount);
      }
      const next = nextTarget(current, answer, follow);
      const hop = describeHop(current, answer, performance.now() - started, next);
      hops.push(hop);
      onHop?.(hop);
      if (!next || !isWeb(next.url)) {
        return endedExpansion(current.text, endAt(answer, next, follow), hops, redirectCount);
      }
      current = next;
      redirectCount += 1;
      looped ||= seen.has(withoutFragment(current.url));
      const limit = redirectCount > maxRedirect;
      if (limit || (looped && follow === 'all')) {
        return endedExpansion(
          current.text,
          looped ? loop : tooManyRedirects(maxRedirect),
          hops,
          redirectCount,
        );
      }
    }
  };
}

/** Where a redirect leads; null where the answer is no redirect or its location cannot be read. */
function nextTarget(current: Target, { status, location }: Answer, follow: Follow): Target | null {
  if (!redirects[follow].includes(status) || !location?.trim()) return null;
  return resolveLocation(location, current);
}

function describeHop(current: Target, answer: Answer, milliseconds: number, next: Target | null): Hop {
  const tls = current.url.protocol === 'https:';
  return {
    url: current.text,
    ...answer,
    milliseconds: Math.round(milliseconds * 10) / 10,
    tls,
    downgrade: tls && next?.url.protocol === 'http:',
  };
}

const loop: End = { code: 'loop', message: 'The redirects form a loop.' };

function tooManyRedirects(maxRedirect: number): End {
  return {
    code: 'max_redirects',
    message: `There are more than ${maxRedirect} redirects; this is the target of the last one.`,
  };
}

/** Why a chain ends with `answer`: it is no redirect, or one that cannot be followed. */
function endAt({ status, location }: Answer, next: Target | null, follow: Follow): End {
  if (!redirects[follow].includes(status)) {
    return { code: 'final', message: `The last page answered ${status} and does not redirect.` };
  }
  if (next) {
    const message = `The last redirect leads to something other than a web page (${next.url.protocol}).`;
    return { code: 'unsupported_scheme', message, target: next.text };
  }
  if (location?.trim()) {
    const message = `The location of the ${status} redirect is not a URL.`;
    return { code: 'malformed_location', message, target: location };
  }
  return { code: 'no_location', message: `The ${status} redirect has no location.` };
}
