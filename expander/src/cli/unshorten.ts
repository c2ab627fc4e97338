import { lookup } from 'node:dns';
import { plainConnector } from '@longhand/shared/connector.ts';
import type { LineExpansion } from '../bulk/process-list.ts';
import { cacheHops } from '../cache/caches.ts';
import { endedExpansion, followChain, plainSession } from '../expansion/chain.ts';
import { expansionError } from '../expansion/errors.ts';
import { readTarget } from '../expansion/target.ts';
import { createGuard } from '../guard/public-address.ts';
import { sharedLookup } from '../guard/shared-lookup.ts';
import type { Request } from '../hop/exchange.ts';
import { fetchHead, guardedRequest } from '../hop/fetch-hop.ts';
import type { Options } from './options.ts';

/** What a website may take of the time for a whole chain: 3 s of 8, as in the service. */
const hopShare = 3 / 8;

/**
 * The expander of the command: the service's guard, client, cache of hops and rules for a chain. `--concurrency` replaces
 * the limits for clients. It does not describe hops.
 */
export async function createUnshorten({ follow, maxRedirect, timeout, concurrency, environment }: Options) {
  const { request } = guardedRequest(
    {
      guard: createGuard(environment.EXPANDER_ALLOWED_NETWORKS),
      lookup: sharedLookup(lookup),
      userAgent: environment.EXPANDER_USER_AGENT,
      maxHops: concurrency,
    },
    plainConnector,
  );
  const { fetchHop, startSession } =
    follow === 'all'
      ? await asBrowser(request)
      : { fetchHop: fetchHead(request), startSession: plainSession };
  const fetchCached = cacheHops(fetchHop);
  const times = { hop: timeout * hopShare, chain: timeout };

  return async (url: string): Promise<LineExpansion> => {
    const given = url.trim();
    let cached = true;
    const onVisit = (_: unknown, visit: { answer: { cached: boolean } | null }) => {
      cached &&= visit.answer?.cached ?? true;
    };
    try {
      const options = { follow, maxRedirect, times, onVisit };
      const { at, end, redirectCount } = await followChain(
        readTarget(given),
        fetchCached,
        startSession,
        options,
      );
      const expansion = endedExpansion(at.text, end, [], redirectCount);
      return { ...expansion, cached: cached && !expansion.error };
    } catch (error) {
      return endedExpansion(given, expansionError(error));
    }
  };
}

/** What `--follow=all` needs: half a megabyte of code, which is loaded for it alone. */
async function asBrowser(request: Request) {
  const { browserSession } = await import('../expansion/browser-session.ts');
  const { createBrowse } = await import('../hop/browse.ts');
  return { fetchHop: createBrowse(request), startSession: browserSession };
}
