import { finalEnd, nextStep, type Session, stepTo, type Visit } from './chain.ts';
import { chainCookies } from './cookies.ts';
import type { FetchHop, FetchHopOptions } from './expansion.ts';
import { resolveLocation, type Target, withoutFragment } from './target.ts';
import { unwrap } from './wrappers.ts';

/** Begins a chain that goes where browsers go: with cookies, through refreshes, and past wrappers. */
export function browserSession(fetchHop: FetchHop, options: FetchHopOptions): Session {
  const cookies = chainCookies();
  const visited = new Set<string>();
  let sentCookies = false;

  const cookieFor = ({ url }: Target) => cookies.header(url);
  const requestOf = (target: Target) => `${withoutFragment(target.url)} ${cookieFor(target)}`;

  const request = async (target: Target): Promise<Visit> => {
    const cookie = cookieFor(target);
    sentCookies ||= cookie !== '';
    visited.add(requestOf(target));
    const answer = await fetchHop(target.url, cookie === '' ? options : { ...options, cookie });
    if (answer.setCookies) cookies.keep(answer.setCookies, target.url);
    const step = nextStep(target, answer, 'all');
    const refreshes = step.kind !== null && step.kind === answer.refresh?.kind;
    if (!refreshes || !isSamePage(step.next, target)) return { answer, step };
    // The page may answer otherwise to a new cookie. But where the URL has a fragment, browsers move within the page.
    const asksAgain = step.next.url.hash === '' && cookieFor(step.next) !== cookie;
    return {
      answer,
      step: asksAgain ? step : { kind: null, location: null, end: finalEnd(answer), at: step.next },
    };
  };

  return {
    async visit(target) {
      const wrapped = unwrap(target.url);
      if (!wrapped) return request(target);
      visited.add(requestOf(target));
      const step = stepTo(resolveLocation(wrapped.target, target), 'wrapper', wrapped.target, target);
      return { answer: null, wrapper: wrapped.wrapper, step };
    },
    repeats: (next) => visited.has(requestOf(next)),
    isPersonal: () => sentCookies,
  };
}

/** Whether a page that redirects there only reloads itself or moves to one of its parts: visitors stay on it. */
function isSamePage(next: Target, current: Target): boolean {
  return withoutFragment(next.url) === withoutFragment(current.url);
}
