import type { Log } from '@longhand/shared/log.ts';
import type { StoreClient } from '@longhand/shared/redis.ts';

/** The settings under which an acknowledged task is on disk and stays there. */
const wanted = { appendonly: 'yes', appendfsync: 'always', 'maxmemory-policy': 'noeviction' };

/** Warns, on each connection, if acknowledged tasks may be lost; then and hourly, if Redis uses 80 % of `maxmemory`. */
export function watchStore(redis: StoreClient, log: Log, milliseconds = 3_600_000): void {
  redis.on('ready', () => {
    check(redis, log);
    checkRoom(redis, log);
  });
  setInterval(() => checkRoom(redis, log), milliseconds).unref();
}

async function checkRoom(redis: StoreClient, log: Log): Promise<void> {
  // The client logs that the store is down.
  const memory = await redis.info('memory').catch(() => '');
  const bytes = (name: string) => Number(RegExp(`^${name}:(\\d+)`, 'm').exec(memory)?.[1] ?? 0);
  const [used, maxmemory] = [bytes('used_memory'), bytes('maxmemory')];
  if (maxmemory && used > 0.8 * maxmemory)
    log.warn({ used, maxmemory }, 'the store is over 80 % full; once it is full, nothing can be saved');
}

async function check(redis: StoreClient, log: Log): Promise<void> {
  try {
    const found = (await redis.config('GET', ...Object.keys(wanted))) as string[];
    for (const [setting, value] of Object.entries(wanted)) {
      const actual = found[found.indexOf(setting) + 1];
      if (actual !== value) log.warn({ setting, actual, wanted: value }, 'Redis may lose acknowledged tasks');
    }
  } catch (err) {
    log.warn({ err }, 'the settings of Redis cannot be read: acknowledged tasks may be lost in a crash');
  }
}
