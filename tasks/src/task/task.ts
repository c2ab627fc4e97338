import type { z } from 'zod';
import { TaskError } from './errors.ts';
import type { changeSchema, newTaskSchema, taskSchema } from './schema.ts';

/** `revision` is the version of the list after the task's last change. It is the `ETag`. */
export type Task = z.output<typeof taskSchema> & { revision: number };

export const filters = ['all', 'open', 'finished'] as const;
export type Filter = (typeof filters)[number];

export const pageSize = 100;

/** Maximum number of tasks to add at once. Adding them blocks the store for 85 ms. */
export const maxTasks = 12_500;

export const tooMany = (what: string, max: number) =>
  new TaskError(
    'body_too_large',
    `At most ${max.toLocaleString('en')} ${what} can be added at once. Send them in parts.`,
  );

/** Maximum number of removals to list at once. Listing them blocks Redis for a millisecond. */
export const listedRemovals = 200;

/** The cursor of a later page: the index score of the last task on the previous page. */
export const cursor = /^-[1-9]\d{0,15}$/;

export interface ListQuery {
  filter: Filter;
  after?: string | undefined;
  q?: string | undefined;
}

/** A part of the list: open tasks first, then `_id` descending. */
export interface Page {
  /** Every change to a task sets a new version. */
  version: string;
  tasks: Task[];
  /** The numbers of open and finished tasks on all pages. */
  open: number;
  finished: number;
  /** Number of matching tasks on earlier pages. */
  before: number;
  /** The cursor of the previous page, unless that is the first. */
  previous?: string;
  next?: string;
  /** For a search: the number of compared titles, and the reason for an early stop. */
  search?: { searched: number; stopped?: 'matches' | 'time' };
}

/** The task has changed since the edited revision. */
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

export interface RecentRemoval extends Removed {
  removed_at: string;
}

/**
 * Stores the tasks. A change is atomic, and is on disk once its promise resolves.
 *
 * @throws TaskError `unknown_task`; `revision_changed` if `match` (an `If-Match` field value, or `*` for any) lacks the
 *   task's revision; `store_unavailable`, after which a change may have happened
 */
export interface TaskStore {
  /** Returns `known`, an earlier result of the same query, if nothing has changed. @throws TaskError `bad_cursor` */
  list(query: ListQuery, known?: Page): Promise<Page>;
  show(id: string): Promise<Task>;
  /** Ids and titles in list order, in batches. A task that moves meanwhile may be missing or occur twice. */
  titles(filter: Filter): AsyncIterable<[id: string, title: string][]>;
  /** Ignores unknown ids. */
  find(ids: string[]): Promise<Task[]>;
  /** A retry with the same `nonce` and title returns the first call's task. */
  create(task: Written, now: Date, nonce?: string): Promise<Task>;
  /** Sets `updated_at` to `now` if it finishes or reopens the task. */
  update(id: string, change: Change, now: Date, match?: string): Promise<Task>;
  /** Removes the task. `restore(removal)` can undo that for a day. */
  destroy(id: string, removal: string, match?: string): Promise<void>;
  /**
   * Removes all finished tasks, a few thousand at a time, and returns their number. A `TaskError` halfway has the `count`
   * so far; another call clears the rest.
   */
  clearFinished(removal: string): Promise<number>;
  /** Returns undefined if the removal has expired or was restored. */
  removed(removal: string): Promise<Removed | undefined>;
  /** The removals that can be undone, latest first: at most one more than `listedRemovals`. */
  removals(): Promise<RecentRemoval[]>;
  /**
   * Restores the tasks with their ids, a few thousand at a time, and returns their number. After a failure, another call
   * continues.
   *
   * @throws TaskError `unknown_removal` if the removal has expired or was restored
   */
  restore(removal: string): Promise<number>;
  /** Adds all tasks in one step, or none. A retry with the same `nonce` and titles adds nothing. */
  insert(tasks: NewTask[], nonce?: string): Promise<void>;
  /** All tasks by ascending `_id`, in batches. Inserting them in this order recreates the list. */
  export(): AsyncIterable<Task[]>;
}

export interface Changes {
  /** Calls `subscriber` with the list's version soon, after each change, and every 5 s. Returns an unsubscriber. */
  subscribe(subscriber: (version: string) => void): () => void;
}

/** Code points of a title. */
const maxTitleLength = 500;

/** NFC composes at most four code points into one (Unicode 17: U+1F82), so longer texts need no normalization. */
const maxTyped = 4 * maxTitleLength;

/** A visible character. Without any, nobody could read or click a row. */
const visible = /[^\p{M}\p{Z}\p{Cc}\p{Cf}\p{Cs}\p{DI}\p{NChar}\u2800\u{1D159}]/u;

/** The title in Unicode NFC, without surrounding white space. @throws TaskError `invalid_title` */
export function readTitle(typed: string): string {
  const trimmed = typed.trim();
  requireLength(trimmed, maxTyped);
  const title = trimmed.normalize('NFC');
  if (title === '') throw invalid('A task needs a title.');
  if (!visible.test(title)) throw invalid('A title needs a visible character.');
  requireLength(title, maxTitleLength);
  if (/\p{Cc}/u.test(title) || !title.isWellFormed()) {
    throw invalid('A title is one line of text: no line breaks, tabs or other control characters.');
  }
  return title;
}

function requireLength(title: string, max: number): void {
  const { length } = [...title];
  if (length > max)
    throw invalid(`A title has at most ${maxTitleLength} characters; this one has ${length}.`);
}

const invalid = (message: string) => new TaskError('invalid_title', message);
