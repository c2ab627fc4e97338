import type { StoreClient } from '@longhand/shared/redis.ts';
import type { Changes } from '../task/task.ts';
import { keys } from './keys.ts';

/** Milliseconds in which changes are collected, so that a storm of writes is no storm of refreshes. */
const collectTime = 100;

/** Milliseconds per subscriber over which a change is spread, so that 2,000 pages do not refresh at once. */
const spreadPerSubscriber = 0.5;

/**
 * Announces what Redis publishes with each change, by whichever replica, on one connection for all subscribers. While
 * Redis is away nobody hears anything; when it is back, everybody hears the current version.
 *
 * @param signal ends it.
 * @param interval milliseconds between two checks of the version, for messages that were lost with a connection.
 */
export function redisChanges(redis: StoreClient, signal: AbortSignal, interval = 5_000): Changes {
  /** Each with its place in the spread, from 0 to 1. */
  const subscribers = new Map<(version: string) => void, number>();
  const announce = (version: string) => {
    for (const [subscriber, place] of subscribers) {
      const delay = place * spreadPerSubscriber * subscribers.size;
      setTimeout(() => subscribers.has(subscriber) && subscriber(version), delay);
    }
  };
  let latest: string | undefined;
  const collect = (version: string) => {
    if (latest === undefined) {
      setTimeout(() => {
        announce(latest as string);
        latest = undefined;
      }, collectTime);
    }
    latest = version;
  };
  const current = async () => (await redis.get(keys.version)) ?? '0';
  const check = () => current().then(announce, () => {});

  // A subscribed connection can do nothing else. ioredis would subscribe it again by itself after a reconnect, but
  // nobody could handle the rejection of that, which would end the process.
  const listener = redis.duplicate({ autoResubscribe: false });
  listener.on('error', () => {}); // The other connection logs it.
  listener.on('message', (_channel: string, version: string) => collect(version));
  listener.on('ready', () => listener.subscribe(keys.changes).then(check, () => {}));
  const timer = setInterval(() => subscribers.size > 0 && check(), interval);

  signal.addEventListener('abort', () => {
    clearInterval(timer);
    listener.disconnect();
  });
  return {
    subscribe(subscriber) {
      subscribers.set(subscriber, Math.random());
      // A subscriber that has left meanwhile hears nothing more: its connection is closed.
      const announceFirst = (version: string) => subscribers.has(subscriber) && subscriber(version);
      current().then(announceFirst, () => {});
      return () => subscribers.delete(subscriber);
    },
  };
}
