import { cacheHops } from '../cache/caches.ts';
import { followRedirects } from '../expansion/chain.ts';
import { createExpand } from '../expansion/expand.ts';
import { createResolve, sharedLookup } from '../guard/lookup.ts';
import { checkUrls, createGuard } from '../guard/public-address.ts';
import { fetchHead, guardedRequest } from '../hop/fetch-hop.ts';
import type { Options } from './options.ts';

/** One hop's share of the chain's timeout: 3 s of 8 s, as in the service. */
const hopShare = 3 / 8;

/** Creates an expander like the service's, but with `--concurrency` instead of limits per client. */
export async function createCommandExpander({ follow, maxRedirect, timeout, environment }: Options) {
  const guard = createGuard(environment.EXPANDER_ALLOWED_NETWORKS);
  const { lookup } = sharedLookup(createResolve(guard));
  const { request } = guardedRequest({ guard, lookup, userAgent: environment.EXPANDER_USER_AGENT });
  const times = { hop: timeout * hopShare, chain: timeout };
  // Load this half megabyte of code only for `--follow=all`.
  const fetchHop =
    follow === 'all'
      ? (await import('../hop/browse.ts')).createBrowse(request, times.hop)
      : fetchHead(request);
  const { chain } = createExpand(followRedirects(cacheHops()(checkUrls(guard)(fetchHop)), times));

  return (url: string) => chain(url, { follow, maxRedirect });
}
