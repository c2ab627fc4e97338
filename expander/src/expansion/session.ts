import { chainCookies } from './cookies.ts';
import type { ChainContext, End, FetchHop, Follow, HopKind, HopRequest, HopResponse } from './expansion.ts';
import { isOtherDomain } from './host.ts';
import { navigationReferrer } from './referrer.ts';
import { strictHosts } from './strict-transport.ts';
import {
  isUpgrade,
  isWeb,
  printable,
  resolveLocation,
  resolveReference,
  type Target,
  withoutFragment,
} from './target.ts';
import { unwrap } from './wrappers.ts';

export interface Visit {
  /** Null for a wrapper and for an http URL of an HSTS host, because neither needs a request. */
  response: HopResponse | null;
  wrapper?: string;
  step: Step;
  /** Whether this is the second visit of the URL. Always false with `follow` = `default`. */
  isRepeated: boolean;
}

/** The next step of a chain. */
export interface Step {
  /** Null at the end of the chain. */
  kind: HopKind | null;
  /** The redirect target as sent by the website. */
  location: string | null;
  /** The next URL, or the last URL if the chain ends. */
  at: Target;
  /** Why the chain ends at this URL. */
  end?: End;
}

/** What the session knows about a request. */
type Hints = Pick<HopRequest, 'hasBegun' | 'isRepeated' | 'skipHead'> & { cookie: string };

export type Session = ReturnType<typeof startSession>;

/**
 * Starts the session of a chain. With `follow` = `all`, the session stores cookies and HSTS, follows refreshes and skips
 * wrappers.
 */
export function startSession(fetchHop: FetchHop, chain: ChainContext) {
  const { follow } = chain;
  const cookies = follow === 'all' ? chainCookies() : null;
  const referrer = follow === 'all' ? navigationReferrer() : null;
  const strict = follow === 'all' ? strictHosts() : null;
  const visited: { target: Target; cookie: string }[] = [];
  let sentCookies = false;
  /** The page whose refresh started the current navigation. */
  let initiator: URL | null = null;
  const cookieFor = ({ url }: Target) => cookies?.header(url, initiator) ?? '';

  const request = async (target: Target, { cookie, ...hints }: Hints) => {
    sentCookies ||= cookie !== '';
    const referer = referrer?.headerFor(target.url) || undefined;
    const sent = { referer, ...(cookie !== '' && { cookie }) };
    const response = await fetchHop(target.url, { chain, ...hints, ...sent });
    if (response.setCookies) cookies?.keep(response.setCookies, target.url);
    if (response.clearsCookies) cookies?.clear(target.url);
    if (response.strictTransport) strict?.keep(response.strictTransport, target.url);
    const step = nextStep(target, response, follow);
    const refreshes = step.kind !== null && step.kind === response.refresh?.kind;
    if (refreshes) {
      initiator = target.url;
      referrer?.start(target.url, response.referrerPolicy);
    } else referrer?.redirect(response.referrerPolicy);
    if (!refreshes || !isSamePage(step.at, target)) return { response, step };
    // A reload with a new cookie may return another response. Browsers scroll instead of reloading if the URL has a fragment.
    const reloads = step.at.url.hash === '' && cookieFor(step.at) !== cookie;
    return { response, step: reloads ? step : finalStep(step.at, response) };
  };

  const hasVisited = (target: Target) => {
    const cookie = cookieFor(target);
    return visited.some((visit) => visit.cookie === cookie && isSamePage(visit.target, target));
  };
  /** Whether the chain has been at this website, except to upgrade from http to https. */
  const isKnownWebsite = ({ url }: Target) =>
    visited.some(({ target }) => !isOtherDomain(target.url, url) && !isUpgrade(target.url, url));

  return {
    /** @param isLast whether a redirect would exceed the limit. */
    async visit(target: Target, isLast: boolean): Promise<Visit> {
      const cookie = cookieFor(target);
      const isRepeated = follow === 'all' && hasVisited(target);
      const skipHead = follow === 'all' && (isLast || isKnownWebsite(target));
      const hasBegun = visited.length > 0;
      visited.push({ target, cookie });
      const wrapped = follow === 'all' ? unwrap(target.url) : null;
      if (wrapped) {
        const next = resolveLocation(wrapped.target, target);
        const step = stepTo(next, 'wrapper', wrapped.target, target);
        return { response: null, wrapper: wrapped.wrapper, step, isRepeated };
      }
      const upgraded = strict?.upgraded(target.url)?.href;
      if (upgraded) {
        const step = stepTo(resolveReference(upgraded, target), 'hsts', upgraded, target);
        return { response: null, step, isRepeated };
      }
      return { ...(await request(target, { cookie, hasBegun, isRepeated, skipHead })), isRepeated };
    },
    /** Whether this chain has requested the same URL with the same cookies. */
    hasVisited,
    /** Whether a response may depend on the cookies of this chain. */
    isPersonal: () => sentCookies,
  };
}

/** Whether two URLs are the same except for the fragment. */
function isSamePage(a: Target, b: Target): boolean {
  return withoutFragment(a.url) === withoutFragment(b.url);
}

/** The statuses that redirect (RFC 9110 section 15.4), by follow mode. */
export const redirects: Record<Follow, readonly number[]> = {
  default: [301, 302],
  all: [301, 302, 303, 307, 308],
};

/** Returns the step after `response`, the response for `current`. */
export function nextStep(current: Target, response: HopResponse, follow: Follow): Step {
  const { status, location, refresh } = response;
  const isRedirect = redirects[follow].includes(status);
  if (isRedirect && location?.trim()) {
    return stepTo(resolveLocation(location, current), `${status}` as HopKind, location, current);
  }
  if (follow === 'all' && refresh) {
    // Browsers ignore a refresh whose target is not a URL.
    const next = refresh.url === '' ? current : resolveReference(refresh.url, current);
    if (next) return stepTo(next, refresh.kind, refresh.url, current);
  }
  if (!isRedirect) return finalStep(current, response);
  const end: End = { code: 'no_location', message: `The ${status} redirect has no target.` };
  return { kind: null, location, end, at: current };
}

/** Returns the step from `current` to `next`, or the end of the chain if `next` cannot be requested. */
function stepTo(next: Target | null, kind: HopKind, location: string, current: Target): Step {
  if (next && isWeb(next.url)) return { kind, location, at: next };
  const end: End = next
    ? {
        code: 'unsupported_scheme',
        message: `The target of the last redirect is not a web page (${next.url.protocol}).`,
        target: next.text,
      }
    : {
        code: 'malformed_location',
        message: `The target of the ${kind} redirect is not a URL.`,
        target: printable(location),
      };
  return { kind: null, location, end, at: current };
}

function finalStep(at: Target, { status, location, method }: HopResponse): Step {
  const isIgnored = redirects.all.includes(status);
  const returned = method === 'HEAD' ? `HEAD returned ${status}` : `The last page returned ${status}`;
  const message = isIgnored
    ? `${returned}, which is followed only with follow=all.`
    : `${returned}${method === 'GET' ? ' and does not redirect' : ''}.`;
  const end: End = { code: 'final', message };
  return { kind: null, location, end, at };
}
