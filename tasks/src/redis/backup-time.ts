import type { StoreClient } from '@longhand/shared/redis.ts';
import { Gauge, type Registry } from 'prom-client';
import { keys } from './keys.ts';

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
