import { lookup } from 'node:dns';
import type { Log } from '@longhand/shared/log.ts';
import type { MiddlewareHandler } from 'hono';
import { createApp } from './app.ts';
import { bounded, boundedPerOrigin, inTime } from './bounds.ts';
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
  redis: CacheClient;
  log: Log;
  observe: MiddlewareHandler;
  lookup?: Lookup;
}

/** The expander in one piece: what is connected to what, with everything outside the process as an argument. */
export function createExpander(config: Config, { redis, log, observe, lookup: resolve = lookup }: Outside) {
  if (config.EXPANDER_ALLOWED_NETWORKS.length > 0) {
    log.warn(
      { networks: config.EXPANDER_ALLOWED_NETWORKS },
      'THE PUBLIC-ADDRESS GUARD IS OFF for these networks',
    );
  }
  const guard = createGuard(config.EXPANDER_ALLOWED_NETWORKS);
  const { ask: request, close } = headRequest({
    guard,
    lookup: sharedLookup(resolve),
    userAgent: config.EXPANDER_USER_AGENT,
  });
  const ask = cachedHops(boundedPerOrigin(inTime(withGetFallback(request))));
  const asked = bounded(cachedInRedis(createTrace(ask), redis, log));
  const trace = staleWhileRevalidate(cachedInMemory(singleFlight(asked)));
  const expand = createExpand(trace, config.EXPANDER_MAX_REDIRECT);
  return { app: createApp(expand, createPage(), observe), expand, close };
}
