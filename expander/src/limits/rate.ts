import { readFileSync } from 'node:fs';
import type { Timed } from '@longhand/shared/durations.ts';
import type { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import { ExpansionError } from '../expansion/errors.ts';
import { type FetchHop, hasKey } from '../expansion/expansion.ts';

/** `count` per `period` ms, usable in one burst. */
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

/** Takes one from the rate of a client: returns 0, or the milliseconds until the next one. */
export type Take = (client: string, rate: Rate) => Promise<number>;

/** Clients that one process remembers while Redis is away. */
const maxClients = 100_000;

const script = readFileSync(`${import.meta.dirname}/take.lua`, 'utf8');

/** Counts in this process alone. @param clock milliseconds. */
export function takeLocally(clock = () => performance.now()): Take {
  const dues = new LRUCache<string, number>({ max: maxClients });
  // As take.lua does.
  return async (client, { count, period }) => {
    const now = clock();
    const due = Math.min(Math.max(dues.get(client) ?? now, now), now + period) + period / count;
    const wait = Math.max(0, due - now - period);
    if (wait === 0) dues.set(client, due);
    return wait;
  };
}

/** Counts in Redis, for all replicas together; while it is away, in this process. */
export function takeFromAll(redis: Pick<Redis, 'eval'>, run: Timed): Take {
  const locally = takeLocally();
  return async (client, rate) => {
    const values = [rate.period / rate.count, rate.period];
    try {
      return (await run('take', () => redis.eval(script, 1, `rate:${client}`, ...values))) as number;
    } catch {
      return locally(client, rate);
    }
  };
}

/**
 * Charges one to a client.
 *
 * @param things what the rate counts, for the message.
 * @throws ExpansionError `rate_limited` if its rate is used up.
 */
export async function charge(take: Take, client: string, rate: Rate, things: string): Promise<void> {
  const wait = Math.ceil((await take(client, rate)) / 1_000);
  if (wait === 0) return;
  const state = { count: rate.count, period: rate.period / 1_000, wait };
  throw new ExpansionError('rate_limited', `Too many ${things}; try again in ${wait} s.`, { rate: state });
}

/**
 * A layer that limits how many expansions of each client without a key contact websites. Cache hits, expansions that
 * another client has begun, refreshes and refusals by the guard cost nothing.
 */
export function limitRate(rate: Rate, take: Take) {
  return (fetchHop: FetchHop): FetchHop =>
    async (url, options) => {
      const { client, refresh, chain } = options;
      const isFree = client === undefined || hasKey(client) || refresh || chain?.isCharged;
      if (!isFree) await charge(take, client, rate, 'expansions from your address');
      if (chain) chain.isCharged = true;
      return fetchHop(url, options);
    };
}
