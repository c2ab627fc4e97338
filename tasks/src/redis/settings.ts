import type { Log } from '@longhand/shared/log.ts';
import type { StoreClient } from '@longhand/shared/redis.ts';
import { Gauge, type Registry } from 'prom-client';
import { keys } from './keys.ts';

/** The settings that put a saved task on disk and keep it there. */
const wanted = { appendonly: 'yes', appendfsync: 'always', 'maxmemory-policy': 'noeviction' };

/** Warns if Redis may lose saved tasks, or uses 80 % of `maxmemory`. Checks on connection, and memory every `milliseconds`. */
export function watchStore(redis: StoreClient, log: Log, milliseconds = 3_600_000): void {
  const checkMemory = async () => {
    const memory = await redis.info('memory').catch(() => '');
    const bytes = (name: string) => Number(RegExp(`^${name}:(\\d+)`, 'm').exec(memory)?.[1] ?? 0);
    const [used, maxmemory] = [bytes('used_memory'), bytes('maxmemory')];
    if (maxmemory && used > 0.8 * maxmemory)
      log.warn({ used, maxmemory }, 'the store is over 80 % full; once it is full, nothing can be saved');
  };
  redis.on('ready', () => {
    checkSettings(redis, log);
    checkMemory();
  });
  setInterval(checkMemory, milliseconds).unref();
}

async function checkSettings(redis: StoreClient, log: Log): Promise<void> {
  try {
    const found = (await redis.config('GET', ...Object.keys(wanted))) as string[];
    for (const [setting, value] of Object.entries(wanted)) {
      const actual = found[found.indexOf(setting) + 1];
      if (actual !== value) log.warn({ setting, actual, wanted: value }, 'Redis may lose saved tasks');
    }
  } catch (err) {
    log.warn({ err }, 'the settings of Redis cannot be read; a crash may lose saved tasks');
  }
}

export function exportBackupTime(redis: StoreClient, metrics: Registry): void {
  new Gauge({
    name: 'longhand_backup_timestamp_seconds',
    help: 'When the last backup of the tasks was made, in seconds since 1970; 0 if never.',
    registers: [metrics],
    async collect() {
      const time = await redis.get(keys.backup).catch(() => undefined);
      if (time !== undefined) this.set(Number(time));
    },
  });
}
