import { lookup } from 'node:dns';
import type { Log } from '@longhand/shared/log.ts';
import { Registry } from 'prom-client';
import { createApp } from './app.ts';
import { atOnce } from './at-once.ts';
import { bounded, boundedLength, boundedPerOrigin } from './bounds.ts';
import { circuitBreaker } from './circuit-breaker.ts';
import type { Config } from './config.ts';
import { createExpand, createTrace } from './expand.ts';
import type { Trace } from './expansion.ts';
import { withGetFallback } from './get-fallback.ts';
import { headRequest } from './head-request.ts';
import { cachedHops, sharedHops } from './hop-cache.ts';
import { cachedInMemory, type Known } from './memory-cache.ts';
import { createExpanderMetrics } from './metrics.ts';
import { createPage } from './page.ts';
import { createGuard } from './public-address.ts';
import { type CacheClient, redisCache } from './redis-cache.ts';
import { type Lookup, sharedLookup } from './shared-lookup.ts';
import { singleFlight } from './single-flight.ts';
import { staleWhileRevalidate } from './stale-while-revalidate.ts';

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
  const { expand, known, close } = createExpansion(config, outside);
  const app = createApp(expand, createPage(), outside.log);
  return { app: Object.assign(app, { atOnce: atOnce(known) }), expand, close };
}

/** The expander without its HTTP side: `expand`, what is `known` at once, and `close` for its connections. */
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
  const known: Known = (url) => {
    const expansion = memory.known(url, { follow: 'default', maxRedirect: expand.maxRedirect });
    return expansion && metrics.countedEnd(expansion);
  };
  return { expand, known, close: requests.close };
}
