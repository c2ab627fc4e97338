import { startDeadline, type Times } from './deadline.ts';
import { ExpansionError, expansionError } from './errors.ts';
import type { Answer, End, Expansion, FetchHop, FetchHopOptions, Follow, Hop, HopKind } from './expansion.ts';
import { expansionFreshUntil, failureFreshUntil } from './lifetime.ts';
import { isWeb } from './parse-url.ts';
import { printable, resolveLocation, resolveReference, type Target, withoutFragment } from './target.ts';

export interface ChainOptions extends FetchHopOptions {
  /** Redirects followed before the chain stops at the next location. */
  maxRedirect: number;
  times?: Times;
  /** Called after each hop. */
  onVisit?: (at: Target, visit: Visit) => void;
}

/** Where a chain came to. */
export interface Chain {
  at: Target;
  redirectCount: number;
  /** Why it ended, or failed. */
  end: End | ExpansionError;
  /** Whether websites may have answered for this chain alone: then no cache may keep it. */
  isPersonal: boolean;
}

/** Follows a chain of redirects, hop by hop, until its deadline. */
export async function followChain(
  start: Target,
  fetchHop: FetchHop,
  startSession: StartSession,
  { maxRedirect, times, onVisit, ...options }: ChainOptions,
): Promise<Chain> {
  const deadline = startDeadline(options.signal, times);
  const session = startSession(
    (url, request) => {
      deadline.startHop(url);
      return fetchHop(url, request);
    },
    { ...options, signal: deadline.signal },
  );
  let at = start;
  let redirectCount = 0;
  const ended = (end: Chain['end']): Chain => ({ at, redirectCount, end, isPersonal: session.isPersonal() });
  try {
    for (;;) {
      const visit = await session.visit(at);
      onVisit?.(at, visit);
      const { step } = visit;
      if (!step.kind) {
        at = step.at;
        return ended(step.end);
      }
      redirectCount += 1;
      at = step.next;
      const isLast = redirectCount > maxRedirect;
      if ((isLast || options.follow === 'all') && session.repeats(at)) return ended(loop);
      if (isLast) return ended(tooManyRedirects(maxRedirect));
    }
  } catch (error) {
    return ended(expansionError(error));
  } finally {
    deadline.end();
  }
}

const loop: End = { code: 'loop', message: 'The redirects form a loop.' };

function tooManyRedirects(maxRedirect: number): End {
  return {
    code: 'max_redirects',
    message: `The limit is ${maxRedirect} redirect${maxRedirect === 1 ? '' : 's'}; this URL is where the next one leads.`,
  };
}

/** The expansion that ended, or failed, at `longUrl`. */
export function endedExpansion(
  longUrl: string | null,
  end: End | ExpansionError,
  hops: Hop[] = [],
  redirectCount = 0,
): Expansion {
  const chain = { hops, longUrl, redirectCount, cached: false };
  if (!(end instanceof ExpansionError)) {
    return { ...chain, end, error: null, freshUntil: expansionFreshUntil(chain) };
  }
  const { code, message, rate } = end;
  const error = { code, message, ...(rate && { rate }) };
  return { ...chain, end: error, error, freshUntil: failureFreshUntil(end) };
}

/** Where a chain goes from one URL: on to the next, or nowhere. `location` is the target as it was named. */
export type Step = StepOn | LastStep;

interface StepOn {
  kind: HopKind;
  location: string;
  next: Target;
}

interface LastStep {
  kind: null;
  location: string | null;
  /** Why the chain ends, and where. */
  end: End;
  at: Target;
}

/** The response of a URL, and where it redirects. */
export interface Visit {
  step: Step;
  /** Null for a wrapper, which is not requested. */
  answer: Answer | null;
  wrapper?: string;
}

/** One chain as websites see it: its history and its cookies. */
export interface Session {
  /** @throws ExpansionError */
  visit(target: Target): Promise<Visit>;
  /** Whether the chain, continued with `next`, makes a request that it has made before. */
  repeats(next: Target): boolean;
  /** Whether a website may have answered to what only this chain had sent. */
  isPersonal(): boolean;
}

/** Begins a session in which hops are requested by `fetchHop`. */
type StartSession = (fetchHop: FetchHop, options: FetchHopOptions) => Session;

/** Begins a chain that is followed by status and `Location` alone. */
export function plainSession(fetchHop: FetchHop, options: FetchHopOptions): Session {
  const visited: URL[] = [];
  return {
    async visit(target) {
      visited.push(target.url);
      const answer = await fetchHop(target.url, options);
      return { answer, step: nextStep(target, answer, 'default') };
    },
    repeats: ({ url }) => new Set([...visited, url].map(withoutFragment)).size <= visited.length,
    isPersonal: () => false,
  };
}

const redirects: Record<Follow, readonly number[]> = {
  default: [301, 302],
  all: [301, 302, 303, 307, 308],
};

/** Reads the answer of `current`. */
export function nextStep(current: Target, answer: Answer, follow: Follow): Step {
  const { status, location } = answer;
  if (redirects[follow].includes(status) && location?.trim()) {
    return stepTo(resolveLocation(location, current), `${status}` as HopKind, location, current);
  }
  const next = follow === 'all' ? refreshTarget(current, answer) : null;
  if (next && answer.refresh) return stepTo(next, answer.refresh.kind, answer.refresh.url, current);
  const end: End = redirects[follow].includes(status)
    ? { code: 'no_location', message: `The ${status} redirect does not say where it leads.` }
    : finalEnd(answer);
  return { kind: null, location, end, at: current };
}

/** A step from `current` to `next`, if that is a URL that can be requested. */
export function stepTo(next: Target | null, kind: HopKind, location: string, current: Target): Step {
  if (next && isWeb(next.url)) return { kind, location, next };
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

/** Where the page sends its visitors; null if it does not. Browsers ignore what is not a URL. */
function refreshTarget(current: Target, { refresh }: Answer): Target | null {
  if (!refresh) return null;
  return refresh.url === '' ? current : resolveReference(refresh.url, current);
}

/** The end at a page on which visitors stay. */
export function finalEnd({ status }: Answer): End {
  return { code: 'final', message: `The last page answered ${status} and does not redirect.` };
}
