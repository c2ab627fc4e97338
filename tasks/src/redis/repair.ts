import type { StoreClient } from '@longhand/shared/redis.ts';
import { keys, schemaVersion } from './keys.ts';
import { scripts } from './scripts.ts';

/** What may be wrong between the index and the tasks; CONTRIBUTING.md says what each means. */
const kinds = ['ghosts', 'orphans', 'misplaced', 'damaged', 'unassigned'] as const;

type Faults = Record<(typeof kinds)[number], string[]>;

const batchSize = 500;

/**
 * Checks every task and every entry of the index, and repairs them if `fix` is true. Each step is atomic, so this may
 * run while the tasks are in use.
 */
export async function repair(redis: StoreClient, fix: boolean): Promise<Faults & { tasks: number }> {
  const check = scripts(redis)<{ removed: number; faults: Faults }>('repair');
  const faults: Faults = { ghosts: [], orphans: [], misplaced: [], damaged: [], unassigned: [] };
  const ids = await allIds(redis);
  let tasks = ids.length;
  for (let i = 0; i < ids.length; i += batchSize) {
    const { removed, faults: found } = await check({
      ids: ids.slice(i, i + batchSize),
      fix,
      ...(fix && { schema: schemaVersion }),
    });
    tasks -= removed;
    for (const kind of kinds) faults[kind].push(...Object.values(found[kind]));
  }
  return { tasks: tasks - faults.ghosts.length - faults.damaged.length, ...faults };
}

/** The ids of all tasks, and of all entries of the index. */
async function allIds(redis: StoreClient): Promise<string[]> {
  const ids = new Set<string>();
  for await (const found of redis.scanStream({ match: `${keys.task}*`, count: 1_000 })) {
    for (const key of found as string[]) ids.add(key.slice(keys.task.length));
  }
  for await (const entries of redis.zscanStream(keys.index, { count: 1_000 })) {
    for (let i = 0; i < entries.length; i += 2) ids.add(entries[i]);
  }
  // Invalid ids come first.
  const place = (id: string) => Number(id) || 0;
  return [...ids].sort((a, b) => place(a) - place(b));
}
