import { queryOf } from '@longhand/shared/routes.ts';
import { type Insert, pageSize } from '../task/task.ts';
import type { TasksContext } from '../web/context.ts';
import type { Dependencies } from '../web/dependencies.ts';
import { takeChange, taskIn, undoOf } from '../web/last-change.ts';
import { number, type Undo, type Undone } from '../web/views.ts';

/** Creates a function that returns what the next list page offers to undo: the removal in its query, or the last change. */
export function undoOffers({ store, cookies }: Pick<Dependencies, 'store' | 'cookies'>) {
  const undoChange = async (c: TasksContext, insert?: Insert): Promise<Undo | undefined> => {
    const told = await takeChange(cookies, c);
    const change = insert ?? told;
    if (!change) return undefined;
    const [task] = await store.find([taskIn(change)]);
    return undoOf(change, task?.title);
  };

  const undoRemoval = async (c: TasksContext): Promise<Undo | undefined> => {
    const removal = queryOf(c).get('removal');
    const removed = removal === undefined ? undefined : await store.removed(removal);
    if (!removed) return undefined;
    const said = queryOf(c).get('cleared') === undefined ? 'Deleted' : 'Cleared';
    const offer = { action: '/tasks/restore', fields: { removal: removed.removal } };
    if (removed.count > 1)
      return { ...offer, said: `${said} ${number(removed.count)} tasks`, title: undefined };
    return { ...offer, said, title: removed.title };
  };

  /** @param insert what the request with the page's `Idempotency-Key` has added. */
  return async (c: TasksContext, insert?: Insert): Promise<Undo | undefined> => {
    const change = await undoChange(c, insert);
    return (await undoRemoval(c)) ?? change;
  };
}

/** The numbers of tasks that an Undo has just removed and kept, from the query. */
export function undoneIn(c: TasksContext): Undone | undefined {
  const count = (name: string) => Number.parseInt(queryOf(c).get(name) ?? '', 10);
  const removed = count('undone');
  return removed > 0 ? { removed, kept: count('kept') || 0 } : undefined;
}

/** The IDs of the added tasks that a page can show, newest first. */
export function shownIds({ first, count }: Insert): number[] {
  const last = Number(first) + count - 1;
  return Array.from({ length: Math.min(count, pageSize) }, (_, i) => last - i);
}
