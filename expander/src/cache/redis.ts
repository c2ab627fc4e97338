import { type Timed, untimed } from '@longhand/shared/durations.ts';
import type { Log } from '@longhand/shared/log.ts';
import type { Redis } from 'ioredis';
import { within } from '../expansion/deadline.ts';
import type { Expansion } from '../expansion/expansion.ts';
import { asCached, type LookupCounter, type SharedCache } from './caches.ts';

/** The commands of Redis that the cache uses. */
export type CacheClient = Pick<Redis, 'get' | 'set' | 'eval'>;

/** Part of every key. Increment it when the form of an entry changes: other entries are then ignored. */
const schemaVersion = 8;

/**
 * Keeps entries in Redis, for all replicas.
 *
 * @param run keeps a Redis that hangs from delaying every request.
 * @param allowedNetworks is part of every key: a result from an exempt network is for services with that exemption only.
 */
export function redisCache(
  redis: CacheClient,
  run: Timed,
  allowedNetworks: readonly string[],
  lookups?: LookupCounter,
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
        if (!expansion.end.code || !expansion.hops) throw new TypeError('This is not a cached expansion.');
        return counted('hit', { expansion: asCached(expansion), text });
      } catch {
        return counted('failed', null);
      }
    },
    set(key, text, milliseconds) {
      // Nobody waits for the write; an entry that is lost is a miss.
      run('SET', () => redis.set(`${scope} ${key}`, text, 'PX', Math.round(milliseconds))).catch(() => {});
    },
  };
}

/** Milliseconds an operation may take. */
const timeout = 250;
/** Milliseconds between two attempts while the circuit is open. */
const pause = 1_000;

const late = Symbol('late');

/**
 * A circuit breaker for something that may hang. An operation that takes longer than 250 ms opens the circuit; then one
 * operation a second tests whether it answers in time again, and all others fail at once.
 *
 * @param timed takes the time of each operation.
 * @returns runs an operation, and throws what it throws, or at once while the circuit is open.
 */
export function circuitBreaker(name: string, log: Pick<Log, 'warn' | 'info'>, timed: Timed = untimed): Timed {
  let open = false;
  let nextAttempt = 0;
  const onTimeout = () => {
    if (!open)
      log.warn(`${name} did not answer within ${timeout} ms; it is tried once a second until it does`);
    open = true;
    nextAttempt = performance.now() + pause;
  };
  const onAnswer = () => {
    if (open) log.info(`${name} answers again`);
    open = false;
  };
  const attempt = async <T>(operation: () => Promise<T>) => {
    if (open) {
      if (performance.now() < nextAttempt) throw new Error(`${name} hangs`);
      nextAttempt = performance.now() + pause;
    }
    const answer = await within(timeout, operation(), late);
    if (answer === late) {
      onTimeout();
      throw new Error(`${name} did not answer within ${timeout} ms`);
    }
    onAnswer();
    return answer;
  };
  return (name, operation) => timed(name, () => attempt(operation));
}
