import { randomNumbers } from '@longhand/shared/testing/random.ts';
import { zipf } from '../bench/zipf.ts';

/** A cache that forgets an answer after a time, and the one that was not asked for longest when it is full. */
export interface Tier {
  keys: number;
  seconds: number;
}

export interface Traffic {
  /** Different links, asked for by Zipf's law (s = 1). */
  links: number;
  perSecond: number;
  /** Expanders, among which links are divided, so that their memories add up. */
  replicas: number;
}

/** What the stack comes with: entries of about 1.2 KB in 32 MiB of memory each, and in 64 MB of Redis. */
export const tiers = {
  edge: { keys: 16_000, seconds: 30 },
  memory: { keys: 28_000, seconds: 70 * 60 },
  redis: { keys: 53_000, seconds: 70 * 60 },
};

/** The links are asked for in the same order each time, by a real run too. */
export const seed = 1;

/** Who answers a request, the nearest first; `memory` is that of the expanders. */
export const answerers = ['edge', 'memory', 'redis', 'website'] as const;

/** The share of requests that each answers. */
export type Shares = Record<(typeof answerers)[number], number>;

export const percent = (share: number) => `${(100 * share).toFixed(1)} %`;

/**
 * Simulates requests to caches in a row, each filled by what lies behind it.
 *
 * @param counted requests that are counted.
 * @param warmUp requests before these, until the caches are warm.
 */
export function shares(
  { links, perSecond, replicas }: Traffic,
  sizes = tiers,
  counted = 200_000,
  warmUp = Math.min(1_000_000, 2 * links + 4 * sizes.redis.keys),
): Shares {
  const next = zipf(links, randomNumbers(seed));
  const caches = [
    cache(sizes.edge),
    cache({ ...sizes.memory, keys: sizes.memory.keys * replicas }),
    cache(sizes.redis),
  ];
  const answered = [0, 0, 0, 0];
  for (let i = 0; i < warmUp + counted; i += 1) {
    const now = i / perSecond;
    const link = next();
    let tier = caches.findIndex((cache) => cache.has(link, now));
    if (tier === -1) tier = caches.length;
    for (const nearer of caches.slice(0, tier)) nearer.add(link, now);
    if (i >= warmUp) answered[tier] = (answered[tier] ?? 0) + 1;
  }
  const [edge = 0, memory = 0, redis = 0, website = 0] = answered.map((count) => count / counted);
  return { edge, memory, redis, website };
}

const none: Tier = { keys: 0, seconds: 0 };

/** The share that the edge alone answers, once it is full or has run for twice its lifetime. */
export function hitRate({ links, perSecond, ...edge }: Omit<Traffic, 'replicas'> & Tier): number {
  const traffic = { links, perSecond, replicas: 1 };
  return shares(traffic, { edge, memory: none, redis: none }, 200_000, 2 * edge.seconds * perSecond).edge;
}

function cache({ keys, seconds }: Tier) {
  // A Map keeps the order in which keys were set: the first one was used longest ago.
  const expiries = new Map<number, number>();
  const touch = (link: number, expiry: number) => {
    expiries.delete(link);
    expiries.set(link, expiry);
  };
  return {
    has(link: number, now: number) {
      const expiry = expiries.get(link) ?? 0;
      if (expiry <= now) return false;
      touch(link, expiry);
      return true;
    },
    add(link: number, now: number) {
      touch(link, now + seconds);
      if (expiries.size > keys) expiries.delete(expiries.keys().next().value as number);
    },
  };
}
