import type { StoreClient } from '@longhand/shared/redis.ts';
import type { Changes } from '../task/task.ts';
import { keys } from './keys.ts';

/** Milliseconds between a change and its announcement, so that several changes share one announcement. */
const batchDelay = 100;

/** Milliseconds between announcements to subscribers. 2,000 pages refresh within one second. */
const spreadPerSubscriber = 0.5;

/**
 * Subscribes to changes in Redis over one connection, and announces each new version to all subscribers. Also announces the
 * current version after a reconnection.
 *
 * @param interval milliseconds between checks of the version, in case a message is lost
 */
export function redisChanges(redis: StoreClient, signal: AbortSignal, interval = 5_000): Changes {
  /** Each subscriber's delay, as a random fraction (0 to 1) of the longest delay. */
  const subscribers = new Map<(version: string) => void, number>();
  const announce = (version: string) => {
    for (const [subscriber, fraction] of subscribers) {
      const delay = fraction * spreadPerSubscriber * subscribers.size;
      setTimeout(() => subscribers.has(subscriber) && subscriber(version), delay);
    }
  };
  let latest: string | undefined;
  const announceLatest = () => {
    announce(latest as string);
    latest = undefined;
  };
  const announceSoon = (version: string) => {
    if (latest === undefined) setTimeout(announceLatest, batchDelay);
    latest = version;
  };
  const current = async () => (await redis.get(keys.version)) ?? '0';
  const check = () => current().then(announce, () => {});

  // A failed automatic resubscription would be an unhandled rejection.
  const listener = redis.duplicate({ autoResubscribe: false });
  listener.on('error', () => {}); // The main connection logs errors.
  listener.on('message', (_channel: string, version: string) => announceSoon(version));
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
