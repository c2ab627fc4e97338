import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { within } from '@longhand/shared/durations.ts';
import type { FetchHop } from '../expansion/expansion.ts';
import type { Guard } from './public-address.ts';

// `import` would also load `fs.promises`, which takes 7 ms.
const { statSync } = process.getBuiltinModule('node:fs');

/** Looks up all addresses of a name. */
export type Lookup = (hostname: string) => Promise<LookupAddress[]>;

/** c-ares waits 250 ms to 1 s for each try. Five tries cover the 2 s that a recursive resolver may need. */
const settings = { timeout: 1_000, maxTimeout: 1_000, tries: 5 };

/** Maximum milliseconds for a lookup. Shorter than the hop timeout (3 s), whose error message would blame the website. */
const lookupTimeout = 2_500;

/** Milliseconds to wait for the other family's addresses (RFC 8305, section 3). */
const resolutionDelay = 50;

/** Matches localhost and its subdomains (RFC 6761, section 6.3). */
const localhost = /(?:^|\.)localhost\.?$/i;

/** c-ares error codes for names that do not exist, have no address, or are invalid. */
const unknown = ['ENOTFOUND', 'ENODATA', 'EBADNAME'];

/** c-ares error codes after which c-ares does not try the next server. */
const refusals = ['EREFUSED', 'ESERVFAIL', 'ENOTIMP'];

/**
 * Creates a lookup that queries both address families in parallel and returns IPv4 addresses first. Unlike `dns.lookup`, it
 * does not block a thread. The error code is `ENOTFOUND` if the name has no address, and `EAI_AGAIN` if no name server responds.
 *
 * @param servers the name servers. By default, reads `/etc/resolv.conf`, and reads it again whenever the file changes.
 */
export function createResolve({ isExempt }: Pick<Guard, 'isExempt'>, servers?: string[]): Lookup {
  const loopback: LookupAddress[] = [{ address: '127.0.0.1', family: 4 }];
  if (isExempt('::1')) loopback.push({ address: '::1', family: 6 });
  let resolvers: Resolvers;
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
    await within(lookupTimeout, Promise.any(questions), undefined).catch((error: AggregateError) => {
      if (error.errors.every(({ code }) => unknown.includes(code))) throw failure('ENOTFOUND', error);
    });
    if (found.length === 0) throw failure('EAI_AGAIN');
    await within(resolutionDelay, Promise.allSettled(questions), undefined);
    return found.sort((a, b) => a.family - b.family);
  };
}

type Resolvers = readonly [Resolver, ...Resolver[]];

/** Creates a resolver for all servers, which prefers responsive servers, and a resolver for each backup server. */
function createResolvers(servers?: string[]): Resolvers {
  const all = createResolver(servers);
  const [, ...others] = all.getServers();
  return [all, ...others.map((server) => createResolver([server]))];
}

function createResolver(servers?: string[]): Resolver {
  const resolver = new Resolver(settings);
  if (servers) resolver.setServers(servers);
  return resolver;
}

/** Queries the resolvers in order. Tries the next resolver only after a refusal. @throws the error of the last query. */
async function ask([resolver, next, ...rest]: Resolvers, hostname: string, family: 4 | 6): Promise<string[]> {
  try {
    return await resolver[`resolve${family}`](hostname);
  } catch (error) {
    const isRefusal = refusals.includes((error as NodeJS.ErrnoException).code ?? '');
    if (isRefusal && next) return ask([next, ...rest], hostname, family);
    throw error;
  }
}

function failure(code: string, cause?: unknown): NodeJS.ErrnoException {
  return Object.assign(new Error(`name lookup failed: ${code}`, { cause }), { code });
}

/** Shares lookups in progress between callers. */
export function sharedLookup(lookup: Lookup) {
  const inProgress = new Map<string, Promise<LookupAddress[]>>();

  const shared: Lookup = (hostname) => {
    const other = inProgress.get(hostname);
    if (other) return other;
    const addresses = lookup(hostname).finally(() => inProgress.delete(hostname));
    inProgress.set(hostname, addresses);
    return addresses;
  };

  /** A layer that keeps an abandoned hop in flight until its lookup ends, so that hop limits also limit lookups. */
  const untilLookedUp =
    (fetchHop: FetchHop): FetchHop =>
    async (url, request) => {
      try {
        return await fetchHop(url, request);
      } finally {
        const isAbandoned = request.chain.signal?.reason?.code === 'aborted';
        if (isAbandoned) await Promise.allSettled([inProgress.get(url.hostname)]);
      }
    };

  return { lookup: shared, untilLookedUp };
}
