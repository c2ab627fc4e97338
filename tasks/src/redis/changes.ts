import type { StoreClient } from '@longhand/shared/redis.ts';
import { Cluster } from 'ioredis';
import type { Changes } from '../task/task.ts';
import { channel, keys } from './keys.ts';

/** Milliseconds in which changes are gathered: a storm of writes is not a storm of pages that ask again. */
const gathering = 100;

/**
 * What Redis publishes with each change, made by whichever replica, on one connection for all subscribers.
 * While Redis is away nobody is told anything; when it is back, everybody is told where things stand.
 *
 * @param signal ends it.
 * @param interval milliseconds between two looks at the version, for a message that was lost with a connection.
 */
export function redisChanges(redis: StoreClient, signal: AbortSignal, interval = 5_000): Changes {
  const subscribers = new Set<(version: string) => void>();
  const tellAll = (version: string) => {
    for (const tell of subscribers) tell(version);
  };
  let gathered: string | undefined;
  const gather = (version: string) => {
    if (gathered === undefined) {
      setTimeout(() => {
        tellAll(gathered as string);
        gathered = undefined;
      }, gathering);
    }
    gathered = version;
  };
  const current = async () => (await redis.get(keys.version)) ?? '0';
  const look = () => current().then(tellAll, () => {});

  // A subscribed connection can do nothing else. ioredis would subscribe it again by itself after a reconnect, but
  // nobody could handle the rejection of that, which would end the process.
  const listener: StoreClient =
    redis instanceof Cluster ? redis.duplicate() : redis.duplicate({ autoResubscribe: false });
  listener.on('error', () => {}); // The other connection logs it.
  listener.on('message', (_channel: string, version: string) => gather(version));
  listener.on('ready', () => listener.subscribe(channel).then(look, () => {}));
  const timer = setInterval(() => subscribers.size > 0 && look(), interval);

  signal.addEventListener('abort', () => {
    clearInterval(timer);
    listener.disconnect();
  });
  return {
    subscribe(tell) {
      subscribers.add(tell);
      // Who left meanwhile hears nothing more: their connection is closed.
      const tellThem = (version: string) => subscribers.has(tell) && tell(version);
      current().then(tellThem, () => {});
      return () => subscribers.delete(tell);
    },
  };
}
