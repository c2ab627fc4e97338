import { hash, randomUUID } from 'node:crypto';
import { queryOf } from '@longhand/shared/routes.ts';
import { z } from 'zod';
import { TaskError } from '../task/errors.ts';
import { removalSchema } from '../task/schema.ts';
import { listedRemovals } from '../task/task.ts';
import type { TasksContext } from '../web/context.ts';
import type { Dependencies } from '../web/dependencies.ts';
import { type Intent, nothing, withInput } from '../web/input.ts';
import { html, json, redirect, toList, wantsJson } from '../web/responses.ts';

/** Returns the ID for a removal of `what`. A retry with the same nonce has the same ID. */
export const removalFor = (what: string, nonce?: string) =>
  nonce ? hash('sha256', `${nonce}\n${what}`, 'base64url') : randomUUID();

/** Adds the removal ID to errors from `done`. The client can then undo the removal if it happened despite the error. */
export const withRemoval = <Result>(removal: string, done: Promise<Result>): Promise<Result> =>
  done.catch((error) => {
    throw Object.assign(error, { removal });
  });

const restoration = {
  form: z.object({ removal: z.string().optional() }),
  json: removalSchema.partial(),
};

export function removalsHandlers({ store, csrf, render }: Pick<Dependencies, 'store' | 'csrf' | 'render'>) {
  const clear = async (c: TasksContext, { method, nonce }: Intent) => {
    if (method !== 'DELETE') {
      throw new TaskError('bad_method', 'This form needs _method=DELETE.');
    }
    const removal = removalFor('finished', nonce);
    const count = await withRemoval(removal, store.clearFinished(removal));
    if (wantsJson(c)) return json(c, { removal, count });
    return toList(c, 303, { removal, cleared: 'yes' });
  };

  return {
    async list(c: TasksContext) {
      const [found, token] = await Promise.all([store.removals(), csrf.issue(c)]);
      const restored = Number.parseInt(queryOf(c).get('restored') ?? '', 10);
      const removals = found.slice(0, listedRemovals);
      const more = found.length > listedRemovals;
      const values = { removals, more, restored, csrf: token, nonce: randomUUID() };
      return html(c, () => render('removals', values));
    },

    clearFinished: (c: TasksContext) => withInput(c, csrf, nothing, (_, intent) => clear(c, intent)),

    async restore(c: TasksContext) {
      const fromRemovals = queryOf(c).get('from') === 'removals' && !wantsJson(c);
      const count = await withInput(c, csrf, restoration, ({ removal = '' }, { nonce }) =>
        store.restore(removal.toWellFormed(), nonce).catch((error) => {
          // Somebody else has restored the tasks. The page says so.
          if (fromRemovals && error.code === 'unknown_removal') return 0;
          throw error;
        }),
      );
      if (fromRemovals) return redirect(c, 303, `/tasks/removals?restored=${count}`);
      return wantsJson(c) ? json(c, { count }) : toList(c, 303);
    },
  };
}
