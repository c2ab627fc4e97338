import { Counter, Gauge, type Registry } from 'prom-client';
import { TaskError } from './task/errors.ts';
import type { TaskStore } from './task/task.ts';

/** The writes of the store. */
const writes = ['create', 'update', 'destroy', 'clearFinished', 'restore', 'insert'] as const;

/** The metrics of the task list, registered in `registry`. */
export function createTasksMetrics(registry: Registry) {
  const registers = [registry];
  const written = new Counter({
    name: 'tasks_writes_total',
    help: 'Writes by action and result: ok, or the code of the error.',
    labelNames: ['action', 'result'],
    registers,
  });
  for (const action of writes)
    for (const result of ['ok', 'store_unavailable']) written.inc({ action, result }, 0);

  return {
    countWrites: (store: TaskStore) => countWrites(store, written),
    eventStreams: new Gauge({
      name: 'tasks_event_streams',
      help: 'Pages that watch the list.',
      registers,
    }),
  };
}

/** `store`, each of its writes counted by how it ended. */
function countWrites(store: TaskStore, written: Counter<'action' | 'result'>): TaskStore {
  const counted = { ...store };
  for (const action of writes) {
    const write = store[action] as (...args: unknown[]) => Promise<unknown>;
    const run = (...args: unknown[]) => {
      const done = write(...args);
      done.then(
        () => written.inc({ action, result: 'ok' }),
        (error) => written.inc({ action, result: error instanceof TaskError ? error.code : 'fault' }),
      );
      return done;
    };
    Object.assign(counted, { [action]: run });
  }
  return counted;
}
