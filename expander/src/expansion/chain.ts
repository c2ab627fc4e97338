import { Deadline, type Times } from './deadline.ts';
import { ExpansionError, errorLifetimes } from './errors.ts';
import {
  type ChainContext,
  createChargeOnce,
  type End,
  type ExpandOptions,
  type Expansion,
  type FetchHop,
  type FollowRedirects,
  type Hop,
  internalFields,
  isVoid,
  type Source,
} from './expansion.ts';
import { describeHost, isOtherDomain } from './host.ts';
import { expansionLifetime, responseFreshUntil } from './lifetime.ts';
import { omit } from './omit.ts';
import { type Session, startSession, type Visit } from './session.ts';
import type { Target } from './target.ts';

/** Creates a function that follows a chain of redirects hop by hop, until a timeout. @param inFlight counts chains in progress. */
export function followRedirects(
  fetchHop: FetchHop,
  { times, inFlight }: { times?: Times; inFlight?: { inc(): void; dec(): void } } = {},
): FollowRedirects {
  return async (start, options) => {
    inFlight?.inc();
    const deadline = new Deadline(options.signal, times);
    const walk = new Walk(fetchHop, start, options, deadline);
    try {
      return await untilError(
        () => walk.follow(),
        (error) => walk.ended(error),
      );
    } finally {
      deadline.end();
      inFlight?.dec();
    }
  };
}

/** A walk along one chain: where it is, and the hops behind it. */
class Walk {
  readonly #options: ExpandOptions;
  readonly #deadline: Deadline;
  readonly #session: Session;
  readonly #hops: Hop[] = [];
  readonly #sources: Source[] = [];
  /** The URL that the walk has reached. */
  #at: Target;
  #redirectCount = 0;
  /** When the current hop started (ms on the deadline's clock). */
  #hopStart: number;

  constructor(fetchHop: FetchHop, start: Target, options: ExpandOptions, deadline: Deadline) {
    this.#at = start;
    this.#options = options;
    this.#deadline = deadline;
    this.#session = startSession(
      (url, request) => {
        deadline.startHop(url);
        return fetchHop(url, request);
      },
      contextOf(options, deadline),
    );
    this.#hopStart = deadline.elapsed();
  }

  /** Follows the redirects to their end. @throws ExpansionError */
  async follow(): Promise<Expansion> {
    for (;;) {
      const isLast = this.#redirectCount === this.#options.maxRedirect;
      const visit = await this.#session.visit(this.#at, isLast);
      this.#record(visit);
      this.#at = visit.step.at;
      if (visit.step.end) return this.ended(visit.step.end);
      // HSTS is an upgrade by the browser, not a redirect by a website.
      if (visit.step.kind !== 'hsts') this.#redirectCount += 1;
      const end = this.#loopOrLimit(visit);
      if (end) return this.ended(end);
    }
  }

  /** Returns the expansion if the walk ends here. It may not be cached if it depends on cookies or strayed bytes. */
  ended(end: End | ExpansionError): Expansion {
    const expansion = endedExpansion(this.#at.text, end, this.#hops, this.#redirectCount);
    if (this.#sources.length > 0) expansion.sources = this.#sources;
    const mayBeCached = !this.#session.isPersonal() && !isVoid(expansion);
    return mayBeCached ? expansion : { ...expansion, freshUntil: 0, staleUntil: 0 };
  }

  #record(visit: Visit) {
    const now = this.#deadline.elapsed();
    const hop = describeHop(this.#at, visit, now - this.#hopStart);
    this.#hopStart = now;
    this.#hops.push(hop);
    if (visit.response?.source) this.#sources.push(visit.response.source);
    this.#options.onHop?.(hop);
  }

  /** Returns why the chain may not continue after `visit`: a loop, or the maximum of redirects. */
  #loopOrLimit({ isRepeated }: Visit): End | undefined {
    const { maxRedirect } = this.#options;
    const isOverLimit = this.#redirectCount > maxRedirect;
    // A known URL is not a loop yet, because its second response may differ. Like browsers, the chain requests it again.
    const mayBeLoop = isOverLimit || isRepeated;
    if (mayBeLoop && this.#session.hasVisited(this.#at)) return loop;
    return isOverLimit ? tooManyRedirects(maxRedirect) : undefined;
  }
}

/** Returns what the hops of a chain share. Waits for slots pause the deadline. */
function contextOf(options: ExpandOptions, deadline: Deadline): ChainContext {
  const { follow, client, requesters, again, revalidates, chargeOnce = createChargeOnce(), onWait } = options;
  return {
    follow,
    client,
    requesters,
    again,
    revalidates,
    chargeOnce,
    signal: deadline.signal,
    onWait(hop) {
      if (hop) deadline.pause();
      else deadline.resume();
      onWait?.(hop);
    },
  };
}

/** Returns the result of `expand`, or calls `ended` if `expand` throws an ExpansionError. Rethrows all other errors. */
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
    message: `The limit is ${maxRedirect} redirect${maxRedirect === 1 ? '' : 's'}; this URL is the target of the next redirect.`,
  };
}

/** Creates an expansion that ended or failed at `longUrl`. */
export function endedExpansion(
  longUrl: string | null,
  end: End | ExpansionError,
  hops: Hop[] = [],
  redirectCount = 0,
): Expansion {
  const chain = { hops, longUrl, redirectCount };
  if (!(end instanceof ExpansionError)) {
    const cached = hops.length > 0 && hops.every((hop) => hop.cached || hop.status === null);
    return { ...chain, end, error: null, cached, ...expansionLifetime({ ...chain, end }) };
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
    ...(response ? omit(response, internalFields) : unrequested(wrapper ? 301 : 307)),
    location: step.location,
    ...(wrapper && { wrapper }),
    milliseconds: Math.round(milliseconds * 10) / 10,
    tls,
    downgrade: tls && next?.protocol === 'http:',
    domainChanged: next !== null && isOtherDomain(url, next),
    ...describeHost(url),
  };
}

/** Returns the response fields of a hop without a request. `status` sets the lifetime: 301 for a wrapper, 307 for HSTS. */
function unrequested(status: 301 | 307) {
  const freshUntil = responseFreshUntil(status, {});
  return { status: null, method: null, addressFamily: null, freshUntil, cached: false } as const;
}
