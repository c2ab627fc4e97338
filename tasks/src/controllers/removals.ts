import { randomUUID } from 'node:crypto';
import { Refusal } from '../task/errors.ts';
import type { TaskStore } from '../task/task.ts';
import type { TasksContext } from '../web/context.ts';
import type { Csrf } from '../web/csrf.ts';
import { refusedStatus } from '../web/error-response.ts';
import { readInput } from '../web/input.ts';
import { json, noStore, toList, wantsJson } from '../web/responses.ts';

/** Removing many tasks at once, and undoing a removal. */
export function removalsController({ store, csrf }: { store: TaskStore; csrf: Csrf }) {
  return {
    /** Removes the finished tasks; a browser's form says `_method=DELETE`. */
    async clearFinished(c: TasksContext) {
      const { _method } = await readInput(c, csrf);
      if (c.req.method === 'POST' && _method !== 'DELETE') {
        throw new Refusal('bad_method', 'This form has to say _method=DELETE.');
      }
      const removal = randomUUID();
      const { count, stop } = await store.clearFinished(removal);
      // Whatever is left stands in the list with the button that clears it.
      if (!wantsJson(c)) return toList(c, 303, count > 0 ? `?removal=${removal}` : '');
      if (stop) return json(c, { removal, count }, ...refusedStatus(stop));
      return json(c, { removal, count }, 200, noStore);
    },

    async restore(c: TasksContext) {
      const { removal = '' } = await readInput(c, csrf);
      const count = await store.restore(removal);
      return wantsJson(c) ? json(c, { count }, 200, noStore) : toList(c, 303);
    },
  };
}
