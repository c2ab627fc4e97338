import type { z } from 'zod';
import { TaskError } from './errors.ts';
import type { changeSchema, newTaskSchema, taskSchema } from './schema.ts';

/** See schema.ts for the fields. `revision` (the `ETag`) is the list version after the task's last change. */
export type Task = z.output<typeof taskSchema> & { revision: number };

export const filters = ['all', 'open', 'finished'] as const;
export type Filter = (typeof filters)[number];

export const pageSize = 100;

/** Maximum tasks per import. Adding 12,500 tasks blocks the store for 85 ms. */
export const maxTasks = 12_500;

export const tooMany = (what: string, max: number) =>
  new TaskError(
    'body_too_large',
    `At most ${max.toLocaleString('en')} ${what} can be added at once. Send them in parts.`,
  );

/** Maximum removals per page. Listing 200 removals blocks Redis for a millisecond. */
export const listedRemovals = 200;

/** The cursor of a later page: the index score of the last task on the previous page. */
export const cursor = /^-[1-9]\d{0,15}$/;

export interface ListQuery {
  filter: Filter;
  after?: string | undefined;
  q?: string | undefined;
}

/** A page of the list: open tasks first, then `_id` descending. */
export interface Page {
  /** Every change to a task sets a new version. */
  version: string;
  tasks: Task[];
  /** Number of open tasks on all pages. */
  open: number;
  finished: number;
  /** Number of matching tasks on earlier pages. */
  before: number;
  /** The cursor of the previous page; absent if that is the first page. */
  previous?: string;
  next?: string;
  /** Search only: the number of titles compared, and why the search stopped early. */
  search?: { searched: number; stopped?: 'matches' | 'time' };
}

/** Another client has changed the task since the edited revision. */
export class RevisionChanged extends TaskError {
  readonly current: Task;

  constructor(current: Task) {
    const { title, finished } = current;
    const now = `It is ${finished ? 'finished' : 'open'} now and reads “\u2068${title}\u2069”.`;
    super('revision_changed', `Somebody else changed this task. ${now}`);
    this.current = current;
  }
}

export type Change = z.output<typeof changeSchema>;

export type Written = z.output<typeof newTaskSchema> & { title: string };

/** A task without the fields that the store assigns. */
export type NewTask = Omit<Task, '_id' | 'revision'>;

export interface Removed {
  removal: string;
  count: number;
  /** The title of one of the tasks. */
  title: string;
}

/** Tasks that were added in one step. Their IDs are consecutive, and they share a revision until somebody changes them. */
export interface Insert {
  /** The lowest ID. */
  first: string;
  count: number;
  revision: number;
}

export interface Created {
  task: Task;
  /** Undefined for a retry if the first request was sent to an older release. */
  insert: Insert | undefined;
}

export interface RecentRemoval extends Removed {
  removed_at: string;
}

/**
 * Stores the tasks. Each change is atomic, and is on disk once the promise resolves.
 *
 * @throws TaskError `unknown_task`; `revision_changed` if `match` (the value of `If-Match`, or `*` for any) does not contain
 *   the task's revision; `store_unavailable`, in which case the change may have been saved
 */
export interface TaskStore {
  /** Returns `known`, an earlier result of the same query, if nothing has changed. @throws TaskError `bad_cursor` */
  list(query: ListQuery, known?: Page): Promise<Page>;
  show(id: string): Promise<Task>;
  /** IDs and titles in list order, in batches. A task that moves between batches may be missing or appear twice. */
  titles(filter: Filter): AsyncIterable<[id: string, title: string][]>;
  /** Ignores unknown IDs. */
  find(ids: string[]): Promise<Task[]>;
  /** A retry with the same `nonce` and title returns the existing task and its insert. */
  create(task: Written, now: Date, nonce?: string, key?: string): Promise<Created>;
  /** Sets `updated_at` to `now` if the change finishes or reopens the task. */
  update(id: string, change: Change, now: Date, match?: string): Promise<Task>;
  /** Removes the task. `restore(removal)` can undo the removal for a day. */
  destroy(id: string, removal: string, match?: string): Promise<void>;
  /**
   * Removes all finished tasks, a few thousand at a time, and returns their number. The `TaskError` of a failed step has
   * the `count` so far. Another call then removes the remaining tasks.
   */
  clearFinished(removal: string): Promise<number>;
  /**
   * Removes the tasks of an insert, a few thousand at a time. Keeps tasks that somebody has changed since, and returns both
   * numbers. A retry with the same `removal` returns the same numbers.
   */
  removeAdded(insert: Insert, removal: string): Promise<{ removed: number; kept: number }>;
  /** Returns undefined if the removal has expired or was restored. */
  removed(removal: string): Promise<Removed | undefined>;
  /** Lists up to `listedRemovals` + 1 removals that can be undone, latest first. */
  removals(): Promise<RecentRemoval[]>;
  /**
   * Restores the tasks under their old IDs, a few thousand at a time, and returns the count. After a failure, another call
   * restores the remaining tasks. A retry with the same `nonce` returns the same count.
   *
   * @throws TaskError `unknown_removal` if the removal has expired, or was restored with another nonce
   */
  restore(removal: string, nonce?: string): Promise<number>;
  /**
   * Adds all tasks or none. A retry with the same `nonce` adds nothing, or from a `form` only tasks that it had not sent.
   * Returns the insert, or for such a retry the earlier insert.
   */
  insert(tasks: NewTask[], nonce?: string, form?: 'form', key?: string): Promise<Insert | undefined>;
  /** What `create` or `insert` with this `key` has added in the last day. */
  added(key: string): Promise<Insert | undefined>;
  /** All tasks by ascending `_id`, in batches. Inserting the tasks in this order recreates the list. */
  export(): AsyncIterable<Task[]>;
}

export interface Changes {
  /** Calls `subscriber` with the list version immediately, after each change and every 5 s. Returns a function to unsubscribe. */
  subscribe(subscriber: (version: string) => void): () => void;
}

/** Maximum code points of a title. */
const maxTitleLength = 500;

/** Maximum code points before normalization. NFC composes at most four code points into one (Unicode 17: U+1F82). */
const maxTyped = 4 * maxTitleLength;

/** A visible character. Users could not read or click a title without visible characters. */
const visible = /[^\p{M}\p{Z}\p{Cc}\p{Cf}\p{Cs}\p{DI}\p{NChar}\u2800\u{1D159}]/u;

/** Validates and trims a title, and converts it to Unicode NFC, with spaces for tabs. @throws TaskError `invalid_title` */
export function readTitle(typed: string): string {
  const trimmed = typed.trim();
  requireLength(trimmed, maxTyped);
  const title = trimmed.normalize('NFC').replaceAll('\t', ' ');
  if (title === '') throw invalid('A task needs a title.');
  if (!visible.test(title)) throw invalid('A title needs a visible character.');
  requireLength(title, maxTitleLength);
  if (/\p{Cc}/u.test(title) || !title.isWellFormed()) {
    throw invalid('A title must be one line of text, without control characters.');
  }
  return title;
}

function requireLength(title: string, max: number): void {
  let length = 0;
  // An array of the characters of a long line would take 30 ms.
  for (const _ of title) length += 1;
  if (length > max)
    throw invalid(`A title has at most ${maxTitleLength} characters; this one has ${length}.`);
}

const invalid = (message: string) => new TaskError('invalid_title', message);
