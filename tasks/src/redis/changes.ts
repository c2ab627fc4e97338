import type { StoreClient } from '@longhand/shared/redis.ts';
import type { Changes } from '../task/task.ts';
import { keys } from './keys.ts';

/** Milliseconds between announcements, so that many writes cause few refreshes. */
const collectTime = 100;

/** Milliseconds per subscriber over which an announcement is spread: 2,000 pages refresh within a second. */
const spreadPerSubscriber = 0.5;

/**
 * Announces the changes that Redis publishes, over one connection. When Redis is back, it announces the current version.
 *
 * @param interval milliseconds between two checks of the version, in case a message was lost
 */
export function redisChanges(redis: StoreClient, signal: AbortSignal, interval = 5_000): Changes {
  /** Subscribers with their places in the spread, from 0 to 1. */
  const subscribers = new Map<(version: string) => void, number>();
  const announce = (version: string) => {
    for (const [subscriber, place] of subscribers) {
      const delay = place * spreadPerSubscriber * subscribers.size;
      setTimeout(() => subscribers.has(subscriber) && subscriber(version), delay);
    }
  };
  let latest: string | undefined;
  const announceLatest = () => {
    announce(latest as string);
    latest = undefined;
  };
  const collect = (version: string) => {
    if (latest === undefined) setTimeout(announceLatest, collectTime);
    latest = version;
  };
  const current = async () => (await redis.get(keys.version)) ?? '0';
  const check = () => current().then(announce, () => {});

  // If ioredis resubscribed by itself, a failure would be an unhandled rejection.
  const listener = redis.duplicate({ autoResubscribe: false });
  listener.on('error', () => {}); // The main connection logs the error.
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
      const announceFirst = (version: string) => subscribers.has(subscriber) && subscriber(version);
      current().then(announceFirst, () => {});
      return () => subscribers.delete(subscriber);
    },
  };
}
