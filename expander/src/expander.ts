import { lookup } from 'node:dns';
import type { Log } from '@longhand/shared/log.ts';
import type { MiddlewareHandler } from 'hono';
import { createApp } from './app.ts';
import { bounded, boundedPerOrigin } from './bounds.ts';
import type { Config } from './config.ts';
import { createExpand, createTrace } from './expand.ts';
import { withGetFallback } from './get-fallback.ts';
import { headRequest } from './head-request.ts';
import { cachedHops } from './hop-cache.ts';
import { cachedInMemory } from './memory-cache.ts';
import { createPage } from './page.ts';
import { createGuard } from './public-address.ts';
import { type CacheClient, cachedInRedis } from './redis-cache.ts';
import { type Lookup, sharedLookup } from './shared-lookup.ts';
import { singleFlight } from './single-flight.ts';
import { staleWhileRevalidate } from './stale-while-revalidate.ts';

export interface Outside {
  log: Log;
  observe: MiddlewareHandler;
  /** Where expansions are remembered beyond this process; without it they are not. */
  redis?: CacheClient;
  /** Name look-ups; those of the system, unless something else is given. */
  lookup?: Lookup;
}

/** The expander in one piece: what is connected to what, with everything outside the process as an argument. */
export function createExpander(config: Config, { observe, ...outside }: Outside) {
  const { expand, close } = createExpansion(config, outside);
  return { app: createApp(expand, createPage(), observe, outside.log), expand, close };
}

/** The expander without its HTTP side: `expand`, and `close` for its connections. */
export function createExpansion(
  config: Config,
  { log, redis, lookup: resolve = lookup }: Omit<Outside, 'observe'>,
) {
  if (config.EXPANDER_ALLOWED_NETWORKS.length > 0) {
    log.warn(
      { networks: config.EXPANDER_ALLOWED_NETWORKS },
      'THE PUBLIC-ADDRESS GUARD IS OFF for these networks',
    );
  }
  const requests = headRequest({
    guard: createGuard(config.EXPANDER_ALLOWED_NETWORKS),
    lookup: sharedLookup(resolve),
    userAgent: config.EXPANDER_USER_AGENT,
  });
  const ask = cachedHops(boundedPerOrigin(withGetFallback(requests.ask)));
  const asked = createTrace(ask);
  const shared = singleFlight(bounded(redis ? cachedInRedis(asked, redis, log) : asked));
  const trace = staleWhileRevalidate(cachedInMemory(shared));
  return { expand: createExpand(trace, config.EXPANDER_MAX_REDIRECT), close: requests.close };
}
