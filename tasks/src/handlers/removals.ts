import { hash, randomUUID } from 'node:crypto';
import { queryOf } from '@longhand/shared/routes.ts';
import { z } from 'zod';
import { TaskError } from '../task/errors.ts';
import { removalSchema } from '../task/schema.ts';
import { type Insert, listedRemovals } from '../task/task.ts';
import type { TasksContext } from '../web/context.ts';
import type { Dependencies } from '../web/dependencies.ts';
import { type Intent, nothing, withInput } from '../web/input.ts';
import { insertSchema, takeChange } from '../web/last-change.ts';
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

const changedSince = (count: number) =>
  `Somebody has changed ${count === 1 ? 'this task' : 'these tasks'} since. Nothing was undone.`;

/** @throws TaskError `bad_method` */
function requireDelete({ method }: Intent): void {
  if (method !== 'DELETE') throw new TaskError('bad_method', 'This form needs _method=DELETE.');
}

type Used = Pick<Dependencies, 'store' | 'csrf' | 'cookies' | 'render'>;

export function removalsHandlers({ store, csrf, cookies, render }: Used) {
  const clear = async (c: TasksContext, intent: Intent) => {
    requireDelete(intent);
    const removal = removalFor('finished', intent.nonce);
    const count = await withRemoval(removal, store.clearFinished(removal));
    if (wantsJson(c)) return json(c, { removal, count });
    return toList(c, 303, { removal, cleared: 'yes' });
  };

  const takeBack = async (c: TasksContext, { first, count, revision }: Partial<Insert>, intent: Intent) => {
    requireDelete(intent);
    if (first === undefined || count === undefined || revision === undefined)
      throw new TaskError('invalid_field', 'Send the form of an Undo, with first, count and revision.');
    const removal = removalFor(`added ${first}`, intent.nonce);
    const insert = { first, count, revision };
    const { removed, kept } = await withRemoval(removal, store.removeAdded(insert, removal));
    // The report of an import leaves its cookie for the list, which would offer Undo again.
    await takeChange(cookies, c);
    if (removed > 0) return toList(c, 303, { undone: `${removed}`, ...(kept > 0 && { kept: `${kept}` }) });
    if (kept > 0) throw new TaskError('revision_changed', changedSince(kept));
    throw new TaskError('unknown_removal', 'There is nothing left to undo here.');
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

    /** Takes back an Add, a pasted list or an import. */
    removeAdded: (c: TasksContext) =>
      withInput(c, csrf, { form: insertSchema }, (insert, intent) => takeBack(c, insert, intent)),

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
