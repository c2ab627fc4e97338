import { readFileSync } from 'node:fs';
import type { Timed } from '@longhand/shared/spans.ts';
import { LRUCache } from 'lru-cache';
import type { CacheClient } from '../cache/redis.ts';
import { RateLimited } from '../expansion/errors.ts';
import type { ExpandUrl } from '../expansion/expansion.ts';

/** So many expansions in a period, in milliseconds, as many of them at once. */
export interface Rate {
  count: number;
  period: number;
}

/** Reads a rate such as `60r/m`; undefined where the text is none. */
export function readRate(text: string): Rate | undefined {
  const [, count, unit] = /^([1-9]\d{0,5})r\/([smh])$/.exec(text) ?? [];
  return unit
    ? { count: Number(count), period: { s: 1_000, m: 60_000, h: 3_600_000 }[unit] as number }
    : undefined;
}

/** How many expansions are left, or -1 where there was none, and the milliseconds until there is one more. */
type Taken = [left: number, wait: number];

/** Takes one expansion from what a client may have. */
export type Take = (client: string) => Promise<Taken>;

/** Clients that one process remembers while Redis is away. */
const maxClients = 100_000;

const script = readFileSync(`${import.meta.dirname}/take.lua`, 'utf8');

/** Counts in this process alone. @param clock milliseconds. */
export function takeLocally({ count, period }: Rate, clock = () => performance.now()): Take {
  const interval = period / count;
  const dues = new LRUCache<string, number>({ max: maxClients });
  // As take.lua does.
  return async (client) => {
    const now = clock();
    const due = Math.max(dues.get(client) ?? now, now) + interval;
    const room = now + period - due;
    if (room < 0) return [-1, -room];
    dues.set(client, due);
    return [Math.floor(room / interval), Math.max(0, interval - room)];
  };
}

/** Counts in Redis, for all replicas together; while it is away, in this process. */
export function takeFromAll(redis: CacheClient, run: Timed, rate: Rate): Take {
  const locally = takeLocally(rate);
  const values = [rate.period / rate.count, rate.count];
  return async (client) => {
    try {
      return (await run('take', () => redis.eval(script, 1, `rate:${client}`, ...values))) as Taken;
    } catch {
      return locally(client);
    }
  };
}

/**
 * Limits how many expansions each client causes: what a cache answers, or another client has begun, costs nothing.
 * `charge` belongs below the caches; `own` above the single flight, whose waiters would share a refusal.
 */
export function limitRate({ count, period }: Rate, take: Take) {
  return {
    charge: (expandUrl: ExpandUrl): ExpandUrl => {
      return async (target, options) => {
        const { client } = options;
        if (client !== undefined && !options.refresh) {
          const [left, wait] = await take(client);
          if (left < 0) {
            throw new RateLimited(client, { count, period: period / 1_000, wait: Math.ceil(wait / 1_000) });
          }
        }
        return expandUrl(target, options);
      };
    },
    own: (expandUrl: ExpandUrl): ExpandUrl => {
      return async function expandAgain(target, options) {
        try {
          return await expandUrl(target, options);
        } catch (error) {
          // Somebody else's expansion was joined, and that client was refused.
          const others = error instanceof RateLimited && error.client !== options.client;
          if (others && !options.signal?.aborted) return expandAgain(target, options);
          throw error;
        }
      };
    },
  };
}
