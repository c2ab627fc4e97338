import type { Log } from '@longhand/shared/log.ts';
import type { StoreClient } from '@longhand/shared/redis.ts';
import { Cluster, type Redis } from 'ioredis';

/** What has to be set so that an acknowledged task is on disk and stays there. */
const wanted = {
  appendonly: ['yes', 'Redis is not durable: a crash loses acknowledged tasks (no append-only file)'],
  appendfsync: [
    'always',
    'Redis is not durable: acknowledged tasks may be lost in a crash (no fsync per write)',
  ],
  'maxmemory-policy': ['noeviction', 'Redis is not durable: it evicts tasks when it runs short of memory'],
} as const;

/**
 * Checks the settings of the store each time it is connected, and warns if acknowledged tasks may be lost.
 * Resolves after the first check if the store is connected already.
 */
export async function watchSettings(redis: StoreClient, log: Log): Promise<void> {
  const checkAll = () =>
    Promise.all((redis instanceof Cluster ? redis.nodes('master') : [redis]).map((node) => check(node, log)));
  redis.on('ready', checkAll);
  if (redis.status === 'ready') await checkAll();
}

async function check(node: Redis, log: Log): Promise<void> {
  try {
    const found = (await node.config('GET', ...Object.keys(wanted))) as string[];
    for (const [setting, [value, warning]] of Object.entries(wanted)) {
      const actual = found[found.indexOf(setting) + 1];
      if (actual !== value) log.warn({ setting, actual, wanted: value }, warning);
    }
  } catch (err) {
    log.warn({ err }, 'the settings of Redis cannot be read: acknowledged tasks may be lost in a crash');
  }
}
