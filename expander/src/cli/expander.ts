import { cacheHopResponses } from '../cache/hop-responses.ts';
import { followRedirects } from '../expansion/chain.ts';
import { createExpand } from '../expansion/expand.ts';
import { createResolve, sharedLookup } from '../guard/lookup.ts';
import { checkUrls, createGuard } from '../guard/public-address.ts';
import { fetchHead, guardedRequest } from '../hop/fetch-hop.ts';
import { verdictOf } from '../web/judge.ts';
import type { Options } from './options.ts';

/** Ratio of the hop timeout to the chain timeout. The service uses 3 s and 8 s. */
const hopShare = 3 / 8;

/** Creates an expander without per-client limits. */
export async function createCommandExpander({ follow, maxRedirect, timeout, environment }: Options) {
  const guard = createGuard(environment.EXPANDER_ALLOWED_NETWORKS);
  const { lookup } = sharedLookup(createResolve(guard));
  const { request } = guardedRequest({ guard, lookup, userAgent: environment.EXPANDER_USER_AGENT });
  const times = { hop: timeout * hopShare, chain: timeout };
  // Only `--follow=all` needs this half megabyte of code.
  const fetchHop =
    follow === 'all'
      ? (await import('../hop/browse.ts')).createBrowse(request, times.hop)
      : fetchHead(request);
  const cached = cacheHopResponses()(checkUrls(guard)(fetchHop));
  const { chain } = createExpand(followRedirects(cached, { times }));

  return async (url: string) => {
    const expansion = await chain(url, { follow, maxRedirect });
    return { ...expansion, ...verdictOf(expansion) };
  };
}
