import { TaskError } from '../task/errors.ts';
import type { Filter, ListQuery, Page } from '../task/task.ts';
import type { Fields } from './fields.ts';

/** The scores of open tasks lie below it, those of finished tasks above; see `lua/shared.lua`. */
const finishedThreshold = -(2 ** 52);

const ranges: Record<Filter, [first: string, last: string]> = {
  all: ['-inf', '+inf'],
  open: ['-inf', `(${finishedThreshold}`],
  finished: [`(${finishedThreshold}`, '+inf'],
};

/** A cursor is the score of the last task on the page before. */
const cursor = /^-[1-9]\d{0,15}$/;

/** What `list.lua` finds: a page. */
export type Found = Omit<Page, 'tasks'> & { tasks: Fields[] };

/**
 * The range of scores on a page, and of a later page where the first one starts.
 *
 * @throws TaskError `bad_cursor`
 */
export function scoreRange({ filter, after }: ListQuery) {
  const [start, last] = ranges[filter];
  if (after === undefined) return { first: start, last };
  const cursorFilter = Number(after) < finishedThreshold ? 'open' : 'finished';
  if (!cursor.test(after) || (filter !== 'all' && filter !== cursorFilter)) {
    throw new TaskError('bad_cursor', 'This page of the list does not exist. Start from the first one.');
  }
  return { first: `(${after}`, last, start, after };
}
