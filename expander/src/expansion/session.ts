import { chainCookies } from './cookies.ts';
import type {
  ChainState,
  End,
  FetchHop,
  FetchHopOptions,
  Follow,
  HopKind,
  HopResponse,
} from './expansion.ts';
import { isWeb } from './parse-url.ts';
import { strictHosts } from './strict-transport.ts';
import { printable, resolveLocation, resolveReference, type Target, withoutFragment } from './target.ts';
import { unwrap } from './wrappers.ts';

/** The response of a URL, and where the chain goes from there. */
export interface Visit {
  /** Null if the URL is not requested: a wrapper, or an http URL of an HSTS host. */
  response: HopResponse | null;
  wrapper?: string;
  step: Step;
}

/** Where a chain goes from one URL: on to the next, or nowhere. */
interface Step {
  /** Null at the end of the chain. */
  kind: HopKind | null;
  /** The target as it was named. */
  location: string | null;
  /** The next URL, or that of the end. */
  at: Target;
  /** Why the chain ends there. */
  end?: End;
}

/**
 * One chain as websites see it: its history, and with `follow` = `all` its cookies. It then goes where browsers go, through
 * refreshes and past wrappers.
 */
export function startSession(fetchHop: FetchHop, options: FetchHopOptions) {
  const { follow } = options;
  const cookies = follow === 'all' ? chainCookies() : null;
  const strict = strictHosts();
  const visited: { target: Target; cookie: string }[] = [];
  const chain: ChainState = { hasBegun: false, isCharged: false };
  let sentCookies = false;
  const cookieFor = ({ url }: Target) => cookies?.header(url) ?? '';

  const request = async (target: Target, cookie: string): Promise<Visit> => {
    sentCookies ||= cookie !== '';
    const response = await fetchHop(target.url, { ...options, chain, ...(cookie !== '' && { cookie }) });
    if (response.setCookies) cookies?.keep(response.setCookies, target.url);
    if (response.strictTransport) strict.keep(response.strictTransport, target.url);
    const step = nextStep(target, response, follow);
    const refreshes = step.kind !== null && step.kind === response.refresh?.kind;
    if (!refreshes || !isSamePage(step.at, target)) return { response, step };
    // The page may respond differently to a new cookie. But where the URL has a fragment, browsers move within the page.
    const asksAgain = step.at.url.hash === '' && cookieFor(step.at) !== cookie;
    return { response, step: asksAgain ? step : finalStep(step.at, response) };
  };

  return {
    /** @throws ExpansionError */
    async visit(target: Target): Promise<Visit> {
      const wrapped = follow === 'all' ? unwrap(target.url) : null;
      const cookie = cookieFor(target);
      chain.hasBegun = visited.length > 0;
      visited.push({ target, cookie });
      const upgraded = wrapped ? null : strict.upgraded(target.url)?.href;
      if (upgraded)
        return { response: null, step: stepTo(resolveReference(upgraded, target), 'hsts', upgraded, target) };
      if (!wrapped) return request(target, cookie);
      const step = stepTo(resolveLocation(wrapped.target, target), 'wrapper', wrapped.target, target);
      return { response: null, wrapper: wrapped.wrapper, step };
    },
    /** Whether the chain, continued with `next`, makes a request that it has made before. */
    repeats(next: Target) {
      const cookie = cookieFor(next);
      return visited.some((visit) => visit.cookie === cookie && isSamePage(visit.target, next));
    },
    /** Whether a response may depend on cookies of this chain. */
    isPersonal: () => sentCookies,
  };
}

/** Whether two URLs are one page, or parts of it. Visitors stay on a page that redirects there. */
function isSamePage(a: Target, b: Target): boolean {
  return withoutFragment(a.url) === withoutFragment(b.url);
}

const redirects: Record<Follow, readonly number[]> = {
  default: [301, 302],
  all: [301, 302, 303, 307, 308],
};

/** Reads the response of `current`. */
function nextStep(current: Target, response: HopResponse, follow: Follow): Step {
  const { status, location, refresh } = response;
  const isRedirect = redirects[follow].includes(status);
  if (isRedirect && location?.trim()) {
    return stepTo(resolveLocation(location, current), `${status}` as HopKind, location, current);
  }
  const next = follow === 'all' && refresh ? refreshTarget(current, refresh.url) : null;
  if (next && refresh) return stepTo(next, refresh.kind, refresh.url, current);
  if (!isRedirect) return finalStep(current, response);
  const end: End = { code: 'no_location', message: `The ${status} redirect does not say where it leads.` };
  return { kind: null, location, end, at: current };
}

/** A step from `current` to `next`, if that is a URL that can be requested. */
function stepTo(next: Target | null, kind: HopKind, location: string, current: Target): Step {
  if (next && isWeb(next.url)) return { kind, location, at: next };
  const end: End = next
    ? {
        code: 'unsupported_scheme',
        message: `The last redirect leads to something that is not a web page (${next.url.protocol}).`,
        target: next.text,
      }
    : {
        code: 'malformed_location',
        message: `The ${kind} redirect leads to something that is not a URL.`,
        target: printable(location),
      };
  return { kind: null, location, end, at: current };
}

/** The end at a page on which visitors stay. */
function finalStep(at: Target, { status, location }: HopResponse): Step {
  const follows = redirects.all.includes(status) ? ', which is not followed' : ' and does not redirect';
  const end: End = { code: 'final', message: `The last page answered ${status}${follows}.` };
  return { kind: null, location, end, at };
}

/** Where a page sends its visitors. Browsers ignore anything that is not a URL. */
function refreshTarget(current: Target, url: string): Target | null {
  return url === '' ? current : resolveReference(url, current);
}
