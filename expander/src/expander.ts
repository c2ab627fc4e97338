import type { Log } from '@longhand/shared/log.ts';
import { timedOperations } from '@longhand/shared/redis.ts';
import { createTurns } from '@longhand/shared/turns.ts';
import { Registry } from 'prom-client';
import { cacheExpansions } from './cache/expansions.ts';
import { cacheHopResponses } from './cache/hop-responses.ts';
import { type CacheClient, circuitBreaker, redisCache } from './cache/redis.ts';
import type { Config } from './config.ts';
import { followRedirects } from './expansion/chain.ts';
import { hopTime } from './expansion/deadline.ts';
import { createExpand } from './expansion/expand.ts';
import type { FetchHop } from './expansion/expansion.ts';
import { createResolve, type Lookup, sharedLookup } from './guard/lookup.ts';
import { checkUrls, createGuard } from './guard/public-address.ts';
import { createBrowse } from './hop/browse.ts';
import { fetchHead, guardedRequest, inTurns, timedHops } from './hop/fetch-hop.ts';
import { watchKeys } from './limits/keys.ts';
import { limitRate, takeFromAll, takeLocally } from './limits/rate.ts';
import { singleFlight } from './limits/single-flight.ts';
import { takeSlots } from './limits/take-slots.ts';
import { createExpanderMetrics } from './metrics.ts';
import { createApp } from './web/app.ts';

export interface Outside {
  log: Log;
  /** The cache shared by all replicas. By default, each process caches only in memory. */
  redis?: CacheClient;
  /** Defaults to the name servers in `/etc/resolv.conf`. */
  lookup?: Lookup;
  metrics?: Registry;
  /** Called when a page template prints a missing value. By default, rendering throws. */
  onMissing?: (fault: Error) => void;
}

/** Wires up the expander. `close` closes its connections. */
export function createExpander(config: Config, outside: Outside) {
  const { log, redis, lookup, metrics: registry = new Registry(), onMissing } = outside;
  const metrics = createExpanderMetrics(registry);
  const allowedNetworks = config.EXPANDER_ALLOWED_NETWORKS;
  if (allowedNetworks.length > 0) warnOfExemptions(log, allowedNetworks);
  const run = circuitBreaker('the cache in Redis', log, timedOperations(registry));
  const shared = redis && redisCache(redis, run, allowedNetworks, metrics.cacheLookups);
  const guard = createGuard(allowedNetworks, metrics.refusedTargets);
  const names = sharedLookup(lookup ?? createResolve(guard));
  const { request, close } = guardedRequest({
    guard,
    lookup: names.lookup,
    userAgent: config.EXPANDER_USER_AGENT,
  });
  const turns = createTurns();
  const modes = { default: fetchHead(request), all: createBrowse(request, hopTime, turns) };

  const rate = config.EXPANDER_CLIENT_RATE;
  const take = redis ? takeFromAll(redis, run) : takeLocally();
  const keys = config.EXPANDER_KEYS_FILE
    ? watchKeys(config.EXPANDER_KEYS_FILE, take, log, metrics.keyRequests)
    : undefined;

  // A hop passes through these layers in order.
  const fetchHop = layers(
    cacheHopResponses(takeSlots(metrics.hopsWaiting)),
    checkUrls(guard),
    ...(rate ? [limitRate(rate, take)] : []),
    names.untilLookedUp,
    inTurns(turns),
  )(timedHops(modes, metrics.hopDurations));
  const follow = cacheExpansions(
    singleFlight,
    shared,
    metrics.cacheLookups,
  )(followRedirects(fetchHop, { inFlight: metrics.inFlight }));

  const expand = createExpand(follow, { maxRedirect: config.EXPANDER_MAX_REDIRECT, ends: metrics.ends });
  // Disables CORS and stale responses. Otherwise any website could scan the exempt networks, and caches would serve results
  // long after the exemption ends.
  const exempt = allowedNetworks.length > 0;
  return {
    app: createApp(expand, { log, exempt, chargeKey: keys?.charge, turns, onMissing }),
    expand,
    close() {
      keys?.close();
      close();
    },
  };
}

function warnOfExemptions(log: Log, networks: readonly string[]) {
  log.warn({ networks }, 'THE PUBLIC-ADDRESS GUARD IS OFF for these networks');
}

/** Wraps a function in layers, with the first layer outermost. */
function layers(...wrappers: ((next: FetchHop) => FetchHop)[]) {
  return (innermost: FetchHop) => wrappers.reduceRight((next, wrap) => wrap(next), innermost);
}
