import type { Log } from '@longhand/shared/log.ts';
import type { StoreClient } from '@longhand/shared/redis.ts';
import { Gauge, type Registry } from 'prom-client';
import { keys } from './keys.ts';

/** Without these settings, Redis may lose saved tasks. */
const required = { appendonly: 'yes', appendfsync: 'always', 'maxmemory-policy': 'noeviction' };

/**
 * Warns if Redis may lose saved tasks, or uses over 80 % of `maxmemory`. Checks the settings and the memory when Redis
 * connects, and the memory every `milliseconds`.
 */
export function watchStore(redis: StoreClient, log: Log, milliseconds = 3_600_000): void {
  const checkMemory = async () => {
    const memory = await redis.info('memory').catch(() => '');
    const bytes = (name: string) => Number(RegExp(`^${name}:(\\d+)`, 'm').exec(memory)?.[1] ?? 0);
    const used = bytes('used_memory');
    const maxmemory = bytes('maxmemory');
    if (maxmemory && used > 0.8 * maxmemory)
      log.warn({ used, maxmemory }, 'the store is over 80 % full; when it is full, changes cannot be saved');
  };
  redis.on('ready', () => {
    checkSettings(redis, log);
    checkMemory();
  });
  setInterval(checkMemory, milliseconds).unref();
}

async function checkSettings(redis: StoreClient, log: Log): Promise<void> {
  try {
    const found = (await redis.config('GET', ...Object.keys(required))) as string[];
    for (const [setting, value] of Object.entries(required)) {
      const actual = found[found.indexOf(setting) + 1];
      if (actual !== value) log.warn({ setting, actual, wanted: value }, 'Redis may lose saved tasks');
    }
  } catch (err) {
    log.warn({ err }, 'cannot read the settings of Redis; a crash may lose saved tasks');
  }
}

export function exportBackupTime(redis: StoreClient, metrics: Registry): void {
  new Gauge({
    name: 'longhand_backup_timestamp_seconds',
    help: 'Time of the last backup of the tasks, in seconds since 1970; 0 if there is none.',
    registers: [metrics],
    async collect() {
      const time = await redis.get(keys.backup).catch(() => undefined);
      if (time !== undefined) this.set(Number(time));
    },
  });
}
