import { lookup } from 'node:dns';
import type { Log } from '@longhand/shared/log.ts';
import type { MiddlewareHandler } from 'hono';
import { createApp } from './app.ts';
import { bounded, boundedPerOrigin } from './bounds.ts';
import type { Config } from './config.ts';
import { createExpand, createTrace } from './expand.ts';
import { headRequest } from './head-request.ts';
import { createPage } from './page.ts';
import { createGuard } from './public-address.ts';
import { type CacheClient, cachedInRedis } from './redis-cache.ts';
import { type Lookup, sharedLookup } from './shared-lookup.ts';
import { singleFlight } from './single-flight.ts';

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
  const { ask, close } = headRequest({
    guard,
    lookup: sharedLookup(resolve),
    userAgent: config.EXPANDER_USER_AGENT,
  });
  const trace = singleFlight(bounded(cachedInRedis(createTrace(boundedPerOrigin(ask)), redis, log)));
  const expand = createExpand(trace, config.EXPANDER_MAX_REDIRECT);
  return { app: createApp(expand, createPage(), observe), expand, close };
}
