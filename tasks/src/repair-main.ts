import { readOrExit } from '@longhand/shared/env.ts';
import { createLog } from '@longhand/shared/log.ts';
import { connected, storeClient } from '@longhand/shared/redis.ts';
import { readConfig } from './config.ts';
import { repair } from './redis/repair.ts';

/** `npm run repair -w tasks` checks the store at REDIS_URL; with `-- --fix` it also repairs it. */
const fix = process.argv.includes('--fix');
const config = readOrExit(readConfig);
const redis = storeClient(config, createLog('tasks', 'silent'));
try {
  await connected(redis, 2_000);
  const { tasks, ...faults } = await repair(redis, fix);
  for (const [kind, ids] of Object.entries(faults)) {
    const some = `${ids.slice(0, 20).join(', ')}${ids.length > 20 ? ', …' : ''}`;
    console.log(`${kind}: ${ids.length}${ids.length > 0 ? ` (${some})` : ''}`);
  }
  const found = Object.values(faults).some((ids) => ids.length > 0);
  console.log(
    `${tasks} tasks; ${!found ? 'no faults' : fix ? 'repaired' : 'run again with --fix to repair'}`,
  );
  process.exitCode = found && !fix ? 1 : 0;
} catch (error) {
  const { message, cause } = error as Error;
  console.error(cause instanceof Error ? `${message} (${cause.message})` : message);
  process.exitCode = 2;
} finally {
  redis.disconnect();
}
