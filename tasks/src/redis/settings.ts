import type { Log } from '@longhand/shared/log.ts';
import type { StoreClient } from '@longhand/shared/redis.ts';
import { Cluster, type Redis } from 'ioredis';

/** What has to be set so that "saved" means: on disk, and there to stay. */
const wanted = {
  appendonly: ['yes', 'A crash of Redis loses tasks that were saved: it keeps no append-only file.'],
  appendfsync: ['always', 'A crash loses the last tasks that were saved: they are not on disk at once.'],
  'maxmemory-policy': ['noeviction', 'Redis throws tasks away when it runs short of memory.'],
} as const;

/**
 * Looks at the settings of the store each time it is connected, and warns where saved would not mean saved.
 * Resolves once it has looked, where the store is connected already.
 */
export async function watchSettings(redis: StoreClient, log: Log): Promise<void> {
  const look = () =>
    Promise.all((redis instanceof Cluster ? redis.nodes('master') : [redis]).map((node) => check(node, log)));
  redis.on('ready', look);
  if (redis.status === 'ready') await look();
}

async function check(node: Redis, log: Log): Promise<void> {
  try {
    const found = (await node.config('GET', ...Object.keys(wanted))) as string[];
    for (const [setting, [value, warning]] of Object.entries(wanted)) {
      const actual = found[found.indexOf(setting) + 1];
      if (actual !== value)
        log.warn({ setting, actual, wanted: value }, `SAVED DOES NOT MEAN SAVED. ${warning}`);
    }
  } catch (err) {
    log.warn({ err }, 'The settings of Redis cannot be read, so nobody knows whether saved means saved.');
  }
}
