import { lookup } from 'node:dns';
import type { Log } from '@longhand/shared/log.ts';
import { Registry } from 'prom-client';
import { circuitBreaker } from './cache/circuit-breaker.ts';
import { cachedInMemory } from './cache/memory.ts';
import { type CacheClient, redisCache } from './cache/redis.ts';
import { staleWhileRevalidate } from './cache/stale-while-revalidate.ts';
import type { Config } from './config.ts';
import { createExpand, createTrace } from './expansion/expand.ts';
import type { Trace } from './expansion/expansion.ts';
import { createGuard } from './guard/public-address.ts';
import { type Lookup, sharedLookup } from './guard/shared-lookup.ts';
import { withGetFallback } from './hop/get-fallback.ts';
import { headRequest } from './hop/head-request.ts';
import { cachedHops, sharedHops } from './hop/hop-cache.ts';
import { bounded, boundedLength, boundedPerOrigin } from './limits/bounds.ts';
import { singleFlight } from './limits/single-flight.ts';
import { createExpanderMetrics } from './metrics.ts';
import { createApp } from './web/app.ts';
import { createPage } from './web/page.ts';

export interface Outside {
  log: Log;
  /** Where expansions are remembered beyond this process; without it they are not. */
  redis?: CacheClient;
  /** Name look-ups; those of the system, unless something else is given. */
  lookup?: Lookup;
  /** Where what is counted is told; nowhere, unless something is given. */
  metrics?: Registry;
  /** Milliseconds that only ever grow. */
  clock?: () => number;
}

/** The expander in one piece: what is connected to what, with everything outside the process as an argument. */
export function createExpander(config: Config, outside: Outside) {
  const { expand, close } = createExpansion(config, outside);
  return { app: createApp(expand, createPage(), outside.log), expand, close };
}

/** The expander without its HTTP side: `expand`, and `close` for its connections. */
export function createExpansion(
  config: Config,
  { log, redis, lookup: resolve = lookup, metrics: registry = new Registry(), clock }: Outside,
) {
  const metrics = createExpanderMetrics(registry);
  const allowedNetworks = config.EXPANDER_ALLOWED_NETWORKS;
  if (allowedNetworks.length > 0) {
    log.warn({ networks: allowedNetworks }, 'THE PUBLIC-ADDRESS GUARD IS OFF for these networks');
  }
  const requests = headRequest({
    guard: metrics.countedRefusals(createGuard(allowedNetworks)),
    lookup: sharedLookup(resolve, metrics.lookups),
    userAgent: config.EXPANDER_USER_AGENT,
  });
  // Who joins a hop waits for its host as well, and counts with those who do.
  const ask = cachedHops(boundedPerOrigin(sharedHops(withGetFallback(requests.ask))));
  const asked = createTrace(ask);
  const cache = redis
    ? redisCache({
        redis,
        attempt: circuitBreaker('the cache in Redis', log, clock),
        allowedNetworks,
        count: metrics.cacheAnswers('redis'),
      })
    : { keeps: (trace: Trace) => trace, answers: (trace: Trace) => trace };
  const shared = singleFlight(bounded(cache.keeps(asked), metrics.inFlight));
  const memory = cachedInMemory(cache.answers(shared), metrics.cacheAnswers('memory'));
  const trace = staleWhileRevalidate(memory);
  const expand = createExpand(metrics.countedEnds(boundedLength(trace)), config.EXPANDER_MAX_REDIRECT);
  return { expand, close: requests.close };
}
