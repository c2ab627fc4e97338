import { chainCookies } from './cookies.ts';
import { withDeadlines } from './deadline.ts';
import type { Answer, Expansion, FetchHop, FetchHopOptions } from './expansion.ts';
import { finalEnd, nextStep, type Step, stepTo } from './next-step.ts';
import { resolveLocation, type Target, withoutFragment } from './target.ts';
import { unwrap } from './wrappers.ts';

/** What a URL answered, and where it leads. */
export interface Visit {
  step: Step;
  /** Null for a wrapper, which is not requested. */
  answer: Answer | null;
  wrapper?: string;
}

/** One chain as its websites see it: where it has been, and with which cookies. */
export interface Session {
  /** @throws ExpansionError */
  visit(target: Target): Promise<Visit>;
  /** Whether a request for `target` would be the same as an earlier one: the URL and the cookies. */
  wasVisited(target: Target): boolean;
  /** The expansion, uncacheable if any request carried a cookie. */
  settle(expansion: Expansion): Expansion;
}

/** Begins a chain; its deadline starts now. */
export function startSession(fetchHop: FetchHop, options: FetchHopOptions): Session {
  const { follow } = options;
  const asBrowser = follow === 'all';
  const fetchInTime = withDeadlines(fetchHop);
  const cookies = asBrowser ? chainCookies() : null;
  const visited = new Set<string>();
  let sentCookies = false;

  const cookieFor = ({ url }: Target) => cookies?.header(url) ?? '';
  const requestOf = (target: Target) => `${withoutFragment(target.url)} ${cookieFor(target)}`;

  const request = async (target: Target): Promise<Visit> => {
    const cookie = cookieFor(target);
    sentCookies ||= cookie !== '';
    visited.add(requestOf(target));
    const answer = await fetchInTime(target.url, cookie === '' ? options : { ...options, cookie });
    if (answer.setCookies) cookies?.keep(answer.setCookies, target.url);
    const step = nextStep(target, answer, follow);
    const reloads = step.kind && answer.refresh?.kind === step.kind && isSamePage(step.next, target);
    if (!reloads || cookieFor(step.next) !== cookie) return { answer, step };
    return { answer, step: { kind: null, location: null, end: finalEnd(answer), at: step.next } };
  };

  return {
    async visit(target) {
      const wrapped = asBrowser ? unwrap(target.url) : null;
      if (!wrapped) return request(target);
      visited.add(requestOf(target));
      const step = stepTo(resolveLocation(wrapped.target, target), 'wrapper', wrapped.target, target);
      return { answer: null, wrapper: wrapped.wrapper, step };
    },
    wasVisited: (target) => visited.has(requestOf(target)),
    settle: (expansion) => (sentCookies ? { ...expansion, freshUntil: 0 } : expansion),
  };
}

/** Whether a page that leads there only reloads itself, or moves to a part of itself: people stay on it. */
function isSamePage(next: Target, current: Target): boolean {
  return withoutFragment(next.url) === withoutFragment(current.url);
}
