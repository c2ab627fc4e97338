import { type Timed, untimed, within } from '@longhand/shared/durations.ts';
import type { Log } from '@longhand/shared/log.ts';
import type { Redis } from 'ioredis';
import type { Counter } from 'prom-client';
import type { Expansion } from '../expansion/expansion.ts';
import { asCached, type SharedCache } from './expansions.ts';

/** The Redis commands that the cache and the rate limit use. */
export type CacheClient = Pick<Redis, 'get' | 'set' | 'eval'>;

/** Part of every key. Increment this version when the entry format changes. */
const schemaVersion = 8;

/**
 * A cache in Redis that all replicas share.
 *
 * @param run runs each command, for example in a circuit breaker.
 * @param allowedNetworks part of every key, so that services with different exemptions do not share results.
 */
export function redisCache(
  redis: CacheClient,
  run: Timed,
  allowedNetworks: readonly string[],
  lookups?: Pick<Counter, 'inc'>,
): SharedCache {
  const scope = `expansion:${schemaVersion} [${allowedNetworks.toSorted().join(',')}]`;
  const counted = <Entry>(result: 'hit' | 'miss' | 'failed', entry: Entry) => {
    lookups?.inc({ tier: 'redis', result });
    return entry;
  };
  return {
    async get(key) {
      try {
        const text = await run('GET', () => redis.get(`${scope} ${key}`));
        if (text === null) return counted('miss', null);
        const expansion: Expansion = JSON.parse(text);
        if (!expansion.end) throw new TypeError('This is not a cached expansion.');
        return counted('hit', { expansion: asCached(expansion), text });
      } catch {
        return counted('failed', null);
      }
    },
    set(key, text, milliseconds) {
      // A failed write only causes a cache miss.
      run('SET', () => redis.set(`${scope} ${key}`, text, 'PX', Math.round(milliseconds))).catch(() => {});
    },
  };
}

/** Timeout of an operation (ms). */
const timeout = 250;
/** Milliseconds between probes. */
const pause = 1_000;

const late = Symbol('late');

/**
 * A circuit breaker that opens when an operation takes longer than 250 ms. While the circuit is open, one operation per
 * second probes the dependency, and all other operations fail at once. A probe that succeeds in time closes the circuit.
 *
 * @param name the dependency's name in messages.
 */
export function circuitBreaker(name: string, log: Pick<Log, 'warn' | 'info'>, timed: Timed = untimed): Timed {
  let open = false;
  let nextAttempt = 0;
  const attempt = async <T>(operation: () => Promise<T>) => {
    if (open) {
      if (performance.now() < nextAttempt) throw new Error(`${name} hangs`);
      nextAttempt = performance.now() + pause;
    }
    const result = await within(timeout, operation(), late);
    if (result === late) {
      const message = `${name} did not respond within ${timeout} ms`;
      if (!open) log.warn(`${message}; retrying once a second`);
      open = true;
      nextAttempt = performance.now() + pause;
      throw new Error(message);
    }
    if (open) log.info(`${name} responds again`);
    open = false;
    return result;
  };
  return (name, operation) => timed(name, () => attempt(operation));
}
