import type { Log } from '@longhand/shared/log.ts';
import type { StoreClient } from '@longhand/shared/redis.ts';

/** What has to be set so that an acknowledged task is on disk and stays there. */
const wanted = { appendonly: 'yes', appendfsync: 'always', 'maxmemory-policy': 'noeviction' };

/** Checks the settings of the store each time it is connected, and warns if acknowledged tasks may be lost. */
export function watchSettings(redis: StoreClient, log: Log): void {
  redis.on('ready', () => check(redis, log));
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
