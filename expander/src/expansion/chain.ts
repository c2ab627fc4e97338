import { startDeadline, type Times } from './deadline.ts';
import { type ExpansionError, expansionError } from './errors.ts';
import type { End, FetchHop, FetchHopOptions } from './expansion.ts';
import type { Session, Visit } from './session.ts';
import type { Target } from './target.ts';

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

/** Begins a session in which hops are requested by `fetchHop`. */
type StartSession = (fetchHop: FetchHop, options: FetchHopOptions) => Session;

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
    message: `There are more than ${maxRedirect} redirects; this is the target of the last one.`,
  };
}
