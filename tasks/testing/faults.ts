import type { StoreClient } from '@longhand/shared/redis.ts';
import { keys } from '../src/redis/keys.ts';

/** Lists all violations of the rules in CONTRIBUTING.md in the index and tasks of a store. */
export async function faultsOf(redis: StoreClient): Promise<string[]> {
  const tasks = new Set((await redis.keys(`${keys.task}*`)).map((key) => key.slice(keys.task.length)));
  const index = await redis.zrange(keys.index, '0', '-1', 'WITHSCORES');
  const scores = new Map<string, number>();
  for (let i = 0; i < index.length; i += 2) scores.set(`${index[i]}`, Number(index[i + 1]));
  const removed = new Set(await redis.zrange(keys.removed, '0', '-1'));
  const lastId = Number(await redis.get(keys.lastId));

  const faults = [...scores.keys()].filter((id) => !tasks.has(id)).map((id) => `no task: ${id}`);
  for (const id of tasks) {
    const task = await redis.hgetall(keys.task + id);
    const whole = task.title && /^[01]$/.test(task.finished ?? '') && task.created_at && task.revision;
    const place = task.finished === '1' ? -id : -id - 2 ** 52;
    if (!/^[1-9]\d{0,14}$/.test(id) || !whole) faults.push(`damaged: ${id}`);
    if (Number(id) > lastId) faults.push(`not assigned: ${id}`);
    if (scores.has(id) === removed.has(id)) faults.push(`neither listed nor removed, or both: ${id}`);
    if (scores.has(id) && scores.get(id) !== place) faults.push(`misplaced: ${id}`);
  }
  return faults;
}
