import { connected, storeClient } from '@longhand/shared/redis.ts';
import { redisStore } from '../src/redis/store.ts';
import type { Task, TaskStore } from '../src/task/task.ts';
import { faultsOf } from './faults.ts';
import { allTasks, silent } from './store.ts';

/** The write methods that a storm calls, over HTTP or on the store. Each call may fail. */
export type Writes = Pick<TaskStore, 'create' | 'update' | 'destroy' | 'restore'>;

/** A possible state of a task. A task has two possible states until its last change is acknowledged. */
type State = Pick<Task, 'title' | 'finished'> | 'removed';

/** Writes as fast as possible in eight clients, and records acknowledged changes. Continues after a failure once `up` resolves. */
export function storm(writes: Writes, up: () => Promise<unknown>) {
  const known = new Map<string, State[]>();
  const unacknowledged = new Set<string>();
  let acknowledged = 0;
  let onAcknowledged = () => {};
  let going = true;

  /** Changes a task to `next`. After a failure, the task may be in either state. */
  async function change(id: string, next: State, write: () => Promise<unknown>) {
    known.set(id, [...(known.get(id) ?? []), next]);
    await write();
    known.set(id, [next]);
    acknowledge();
  }

  async function runLifecycle(title: string) {
    unacknowledged.add(title);
    const { _id: id } = (await writes.create({ title }, new Date())).task;
    unacknowledged.delete(title);
    known.set(id, [{ title, finished: 0 }]);
    acknowledge();
    await change(id, { title, finished: 1 }, () => writes.update(id, { finished: 1 }, new Date()));
    const renamed = { title: `${title}, renamed`, finished: 0 } as const;
    await change(id, renamed, () => writes.update(id, renamed, new Date()));
    if (Number(id) % 3 === 0) return;
    await change(id, 'removed', () => writes.destroy(id, `removal-${id}`));
    if (Number(id) % 3 === 1) return;
    await change(id, renamed, () => writes.restore(`removal-${id}`));
  }

  function acknowledge() {
    acknowledged += 1;
    onAcknowledged();
  }

  async function client(name: number) {
    for (let i = 0; going; i++) {
      await runLifecycle(`task ${name}.${i}`).catch(up);
    }
  }
  const clients = [1, 2, 3, 4, 5, 6, 7, 8].map(client);

  return {
    /** Resolves after `count` more acknowledged writes. */
    async acknowledges(count: number): Promise<void> {
      const until = acknowledged + count;
      await new Promise<void>((resolve) => {
        onAcknowledged = () => acknowledged >= until && resolve();
      });
    },
    async end(): Promise<void> {
      going = false;
      await Promise.all(clients);
    },
    /** Lists lost and unexpected tasks. */
    compare(found: Task[]): string[] {
      const faults: string[] = [];
      const left = new Map(found.map((task) => [task._id, task]));
      for (const [id, states] of known) {
        const task = left.get(id);
        left.delete(id);
        const fits = states.some((state) =>
          state === 'removed' ? !task : state.title === task?.title && state.finished === task.finished,
        );
        if (!fits) faults.push(`task ${id} is ${JSON.stringify(task)}, not ${JSON.stringify(states)}`);
      }
      for (const task of left.values()) {
        if (!unacknowledged.delete(task.title)) faults.push(`unexpected: ${JSON.stringify(task)}`);
      }
      return faults;
    },
  };
}

/** Reads the tasks in the store at `url`, and checks their consistency. */
export async function inspect(url: string) {
  const redis = storeClient({ REDIS_URL: url }, silent);
  try {
    await connected(redis, 5_000);
    return { found: await allTasks(redisStore(redis)), faults: await faultsOf(redis) };
  } finally {
    redis.disconnect();
  }
}
