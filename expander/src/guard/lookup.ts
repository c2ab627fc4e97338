import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { statSync } from 'node:fs';
import type { Gauge } from 'prom-client';
import { within } from '../expansion/deadline.ts';
import { ExpansionError } from '../expansion/errors.ts';
import type { FetchHop } from '../expansion/expansion.ts';
import type { Guard } from './public-address.ts';

/** Resolves a name to all its addresses. */
export type Lookup = (hostname: string) => Promise<LookupAddress[]>;

/**
 * c-ares waits from 250 ms to 1 s for each try, less if the server was quick before. Five tries last at least 2 s, which a
 * recursive resolver may need; two may end after 0.5 s.
 */
const settings = { timeout: 1_000, maxTimeout: 1_000, tries: 5 };

/** Milliseconds for all tries at all servers: a hop that runs out of its 3 s would blame the website. */
const patience = 2_500;

/** Milliseconds to wait for the second family's addresses (RFC 8305, section 3). */
const resolutionDelay = 50;

/** RFC 6761, section 6.3. */
const localhost = /(?:^|\.)localhost\.?$/i;

/** The codes of c-ares for a name that does not exist, has no address, or cannot exist. */
const unknown = ['ENOTFOUND', 'ENODATA', 'EBADNAME'];

/** Refusals, after which c-ares does not ask the next server. */
const refusals = ['EREFUSED', 'ESERVFAIL', 'ENOTIMP'];

/**
 * Resolves names by asking name servers, for both families at once, and returns IPv4 addresses first. A question costs a
 * datagram and some memory, but no thread as with `dns.lookup`. The error has the code `ENOTFOUND` if the name has no
 * address, and `EAI_AGAIN` if no name server answers.
 *
 * @param servers those of `/etc/resolv.conf` by default, which is read again when it changes.
 */
export function createResolve({ isExempt }: Pick<Guard, 'isExempt'>, servers?: string[]): Lookup {
  const loopback: LookupAddress[] = [{ address: '127.0.0.1', family: 4 }];
  if (isExempt('::1')) loopback.push({ address: '::1', family: 6 });
  let resolvers: Resolver[] = [];
  let version = '';
  const currentResolvers = () => {
    const file = statSync('/etc/resolv.conf', { throwIfNoEntry: false });
    const current = `${file?.ino} ${file?.mtimeMs}`;
    if (current !== version) resolvers = createResolvers(servers);
    version = current;
    return resolvers;
  };

  return async (hostname) => {
    if (localhost.test(hostname)) return loopback;
    const found: LookupAddress[] = [];
    const questions = ([4, 6] as const).map(async (family) => {
      const addresses = await ask(currentResolvers(), hostname, family);
      found.push(...addresses.map((address) => ({ address, family })));
    });
    const both = Promise.allSettled(questions);
    await within(patience, Promise.any(questions), undefined).catch((error: AggregateError) => {
      if (error.errors.every(({ code }) => unknown.includes(code))) throw failure('ENOTFOUND', error);
    });
    if (found.length === 0) throw failure('EAI_AGAIN');
    await within(resolutionDelay, both, undefined);
    return found.sort((a, b) => a.family - b.family);
  };
}

/** A resolver for all servers, which prefers servers that answer, and one for each further server, for use after a refusal. */
function createResolvers(servers?: string[]): Resolver[] {
  const all = new Resolver(settings);
  if (servers) all.setServers(servers);
  const others = all.getServers().slice(1);
  const single = others.map((server) => {
    const resolver = new Resolver(settings);
    resolver.setServers([server]);
    return resolver;
  });
  return [all, ...single];
}

/** @throws the last refusal, or the first other error. */
async function ask(resolvers: readonly Resolver[], hostname: string, family: 4 | 6): Promise<string[]> {
  let refusal: unknown;
  for (const resolver of resolvers) {
    try {
      return await resolver[`resolve${family}`](hostname);
    } catch (error) {
      refusal = error;
      if (!refusals.includes((error as NodeJS.ErrnoException).code ?? '')) break;
    }
  }
  throw refusal;
}

function failure(code: string, cause?: unknown): NodeJS.ErrnoException {
  return Object.assign(new Error(`name lookup failed: ${code}`, { cause }), { code });
}

/** Shares a lookup of a name while it is in progress. @param gauge counts the names in progress. */
export function sharedLookup(lookup: Lookup, gauge?: Gauge) {
  const inProgress = new Map<string, Promise<LookupAddress[]>>();

  const shared: Lookup = (hostname) => {
    const other = inProgress.get(hostname);
    if (other) return other;
    gauge?.inc();
    const addresses = lookup(hostname).finally(() => {
      inProgress.delete(hostname);
      gauge?.dec();
    });
    inProgress.set(hostname, addresses);
    return addresses;
  };

  /**
   * A layer that keeps a hop open until its lookup ends, even if the client leaves, because a lookup cannot be
   * cancelled. So the limits on hops also limit lookups.
   */
  const untilLookedUp =
    (fetchHop: FetchHop): FetchHop =>
    async (url, options) => {
      try {
        return await fetchHop(url, options);
      } catch (error) {
        const hasLeft = error instanceof ExpansionError && error.code === 'aborted';
        if (hasLeft) await Promise.allSettled([inProgress.get(url.hostname)]);
        throw error;
      }
    };

  return { lookup: shared, untilLookedUp };
}
