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

/** Parses a rate such as `60r/m`. @returns undefined if the text is not a rate. */
export function readRate(text: string): Rate | undefined {
  const [, count, unit] = /^([1-9]\d{0,5})r\/([smh])$/.exec(text) ?? [];
  return unit
    ? { count: Number(count), period: { s: 1_000, m: 60_000, h: 3_600_000 }[unit] as number }
    : undefined;
}

/** Charges a client for one expansion. @returns 0, or the milliseconds to wait if the client has reached its limit. */
export type Take = (client: string, rate: Rate) => Promise<number>;

/** Maximum clients to remember while Redis is down. */
const maxClients = 100_000;

const script = readFileSync(`${import.meta.dirname}/take.lua`, 'utf8');

/** Creates a rate limiter in this process that uses the algorithm of take.lua. @param clock returns milliseconds. */
export function takeLocally(clock = () => performance.now()): Take {
  const dues = new LRUCache<string, number>({ max: maxClients });
  return async (client, { count, period }) => {
    const now = clock();
    const due = Math.min(Math.max(dues.get(client) ?? now, now), now + period) + period / count;
    const wait = due - now - period;
    // A shorter wait may be a rounding error.
    if (wait >= Math.min(1, period / count / 2)) return wait;
    dues.set(client, due);
    return 0;
  };
}

/** Creates a rate limiter for all replicas in Redis. While Redis is down, each replica limits rates on its own. */
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
 * Charges a client for one request or expansion.
 *
 * @param things a plural noun for the message, such as `requests with this key`.
 * @throws ExpansionError `rate_limited` if the client exceeds its rate.
 */
export async function charge(take: Take, client: string, rate: Rate, things: string): Promise<void> {
  const wait = Math.ceil((await take(client, rate)) / 1_000);
  if (wait === 0) return;
  const state = { count: rate.count, period: rate.period / 1_000, wait };
  throw new ExpansionError('rate_limited', `Too many ${things}; try again in ${wait} s.`, { rate: state });
}

/**
 * A layer that limits how often a client without a key starts expansions that contact websites. The limit does not
 * apply to cache hits, revalidations, refused targets, or expansions that another client has started.
 */
export function limitRate(rate: Rate, take: Take) {
  return (fetchHop: FetchHop): FetchHop =>
    async (url, request) => {
      const { client, revalidates, chargeOnce } = request.chain;
      const isFree = client === undefined || hasKey(client) || revalidates;
      if (!isFree) await chargeOnce(() => charge(take, client, rate, 'expansions from your address'));
      return fetchHop(url, request);
    };
}
