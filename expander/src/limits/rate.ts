import { readFileSync } from 'node:fs';
import type { Timed } from '@longhand/shared/durations.ts';
import type { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import { ExpansionError } from '../expansion/errors.ts';
import { type FetchHop, hasKey } from '../expansion/expansion.ts';

/** So many expansions in a period, in milliseconds, as many of them at once. */
export interface Rate {
  count: number;
  period: number;
}

/** Reads a rate such as `60r/m`; undefined if the text is not one. */
export function readRate(text: string): Rate | undefined {
  const [, count, unit] = /^([1-9]\d{0,5})r\/([smh])$/.exec(text) ?? [];
  return unit
    ? { count: Number(count), period: { s: 1_000, m: 60_000, h: 3_600_000 }[unit] as number }
    : undefined;
}

/** Takes one expansion from what a client may have: 0, or the milliseconds until there is one. */
export type Take = (client: string) => Promise<number>;

/** Clients that one process remembers while Redis is away. */
const maxClients = 100_000;

const script = readFileSync(`${import.meta.dirname}/take.lua`, 'utf8');

/** Counts in this process alone. @param clock milliseconds. */
export function takeLocally({ count, period }: Rate, clock = () => performance.now()): Take {
  const dues = new LRUCache<string, number>({ max: maxClients });
  // As take.lua does.
  return async (client) => {
    const now = clock();
    const due = Math.max(dues.get(client) ?? now, now) + period / count;
    const wait = Math.max(0, due - now - period);
    if (wait === 0) dues.set(client, due);
    return wait;
  };
}

/** Counts in Redis, for all replicas together; while it is away, in this process. */
export function takeFromAll(redis: Pick<Redis, 'eval'>, run: Timed, rate: Rate): Take {
  const locally = takeLocally(rate);
  const values = [rate.period / rate.count, rate.period];
  return async (client) => {
    try {
      return (await run('take', () => redis.eval(script, 1, `rate:${client}`, ...values))) as number;
    } catch {
      return locally(client);
    }
  };
}

/**
 * A layer that limits how many expansions of each client without a key contact websites. Cache hits, expansions that
 * another client has begun, refreshes and refusals by the guard cost nothing.
 */
export function limitRate({ count, period }: Rate, take: Take) {
  const charge = async (client: string) => {
    const wait = Math.ceil((await take(client)) / 1_000);
    if (wait === 0) return;
    const message = `Too many expansions from your address; try again in ${wait} s.`;
    throw new ExpansionError('rate_limited', message, { rate: { count, period: period / 1_000, wait } });
  };
  return (fetchHop: FetchHop): FetchHop =>
    async (url, options) => {
      const { client, refresh, chain } = options;
      const isFree = client === undefined || hasKey(client) || refresh || chain?.isCharged;
      if (!isFree) await charge(client);
      if (chain) chain.isCharged = true;
      return fetchHop(url, options);
    };
}
