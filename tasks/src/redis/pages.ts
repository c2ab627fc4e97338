import { TaskError } from '../task/errors.ts';
import { type Filter, type ListQuery, type Page, pageSize, type Task } from '../task/task.ts';
import { type Fields, taskOf } from './fields.ts';

/** The scores of open tasks lie below it, those of finished tasks above; see `lua/shared.lua`. */
const finishedThreshold = -(2 ** 52);

const ranges: Record<Filter, [first: string, last: string]> = {
  all: ['-inf', '+inf'],
  open: ['-inf', `(${finishedThreshold}`],
  finished: [`(${finishedThreshold}`, '+inf'],
};

/** A cursor is the score of the last task on the page before. */
const cursor = /^-[1-9]\d{0,15}$/;

/** What `list.lua` finds if the version is not the known one. */
export type Found = [
  version: string,
  open: number,
  finished: number,
  ids: string[],
  places: number[],
  rows: Fields[],
];

/**
 * The range of scores on a page.
 *
 * @throws TaskError `bad_cursor`
 */
export function scoreRange({ filter, after }: ListQuery): [first: string, last: string] {
  const [first, last] = ranges[filter];
  if (after === undefined) return [first, last];
  const cursorFilter = Number(after) < finishedThreshold ? 'open' : 'finished';
  if (!cursor.test(after) || (filter !== 'all' && filter !== cursorFilter)) {
    throw new TaskError('bad_cursor', 'This page of the list does not exist. Start from the first one.');
  }
  return [`(${after}`, last];
}

/** Assembles a page from what was found and the unchanged tasks of `known`; undefined if one of them is not there. */
export function assemblePage(found: Found, known?: Page): Page | undefined {
  const [version, open, finished, ids, places, rows] = found;
  const fresh = new Map(places.map((place, i) => [place - 1, rows[i] as Fields]));
  const before = new Map([...(known?.tasks ?? []), known?.following].map((old) => [old?._id, old]));
  const tasks: Task[] = [];
  for (const [i, id] of ids.entries()) {
    const fields = fresh.get(i);
    const task = fields ? taskOf(id, fields) : before.get(id);
    if (task) tasks.push(task);
    else if (!fields) return undefined;
  }
  const shown = tasks.slice(0, pageSize);
  const following = tasks[pageSize];
  const next = following && { next: scoreOf(shown.at(-1) as Task), following };
  return { version, tasks: shown, open, finished, ...next };
}

/** The score of a task in the index, as in `lua/shared.lua`. */
function scoreOf({ _id, finished }: Task): string {
  return `${-Number(_id) + (finished ? 0 : finishedThreshold)}`;
}
