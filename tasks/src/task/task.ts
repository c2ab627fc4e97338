import type { z } from 'zod';
import { TaskError } from './errors.ts';
import type { changeSchema, newTaskSchema, taskSchema } from './schema.ts';

/** A task, and the version of the list after its last change; it becomes the `ETag`. */
export type Task = z.output<typeof taskSchema> & { revision: number };

export const filters = ['all', 'open', 'finished'] as const;
export type Filter = (typeof filters)[number];

/** Tasks on a page. */
export const pageSize = 100;

/** Tasks that are added at once: the step of the store takes 85 ms, in which it serves nobody else. */
export const maxTasks = 12_500;

export const tooMany = (what: string, max: number) =>
  new TaskError(
    'body_too_large',
    `At most ${max.toLocaleString('en')} ${what} can be added at once. Send them in parts.`,
  );

/** Removals that are shown: one script lists them, a millisecond in which Redis does nothing else. */
export const listedRemovals = 200;

/** The cursor of a later page: the score of the last task on the page before. */
export const cursor = /^-[1-9]\d{0,15}$/;

export interface ListQuery {
  filter: Filter;
  /** The `next` of the page before, or the `previous` of the page after it; absent for the first page. */
  after?: string | undefined;
  /** Words that every title has to contain. */
  q?: string | undefined;
}

/** One page of the list: unfinished tasks first, then `_id` descending. */
export interface Page {
  /** Changes with every change of any task. */
  version: string;
  tasks: Task[];
  /** How many tasks exist, whatever the page shows. */
  open: number;
  finished: number;
  /** How many of its filter stand before this page. */
  before: number;
  /** The cursor of the page before; absent where that is the first. */
  previous?: string;
  /** The cursor of the next page; absent on the last. */
  next?: string;
  /** Set if the tasks are what a search found. */
  search?: Search;
}

/** How far a search went. */
export interface Search {
  /** Number of tasks whose titles were compared. */
  searched: number;
  /** Why it stopped before the last task. */
  stopped?: 'matches' | 'time' | undefined;
}

/** The task is no longer the revision that was edited. */
export class RevisionChanged extends TaskError {
  /** The task as it is now. */
  readonly current: Task;

  /** @param titled whether the title matters to who asked. */
  constructor(current: Task, titled = true) {
    const { title, finished } = current;
    const now = titled
      ? `It now reads “\u2068${title}\u2069”.`
      : `It is ${finished ? 'finished' : 'open'} now.`;
    super('revision_changed', `Somebody else changed this task. ${now}`);
    this.current = current;
  }
}

/** What an update changes. */
export type Change = z.output<typeof changeSchema>;

/** What is written of a task that is added. */
export type Written = z.output<typeof newTaskSchema> & { title: string };

/** A task to import: everything but what the store assigns. */
export type NewTask = Omit<Task, '_id' | 'revision'>;

/** Tasks that were removed together and can be restored. */
export interface Removed {
  removal: string;
  count: number;
  /** That of one of its tasks. */
  title: string;
}

/** A removal of the last day. */
export interface RecentRemoval extends Removed {
  removed_at: string;
}

/**
 * Keeps the tasks. Every change of a task is one atomic step: when its promise resolves, it is on disk.
 *
 * @throws TaskError `unknown_task`; `revision_changed` if `match`, an `If-Match` field value or `*` for any, lacks the
 *   task's revision; `store_unavailable`, after which a change may have happened or not.
 */
export interface TaskStore {
  /**
   * One page: `known`, an earlier result of the same query, if nothing changed since.
   *
   * @throws TaskError `bad_cursor`
   */
  list(query: ListQuery, known?: Page): Promise<Page>;
  show(id: string): Promise<Task>;
  /** Ids and titles in the order of the list, in batches. A task that moves meanwhile may be missing or come twice. */
  titles(filter: Filter): AsyncIterable<[id: string, title: string][]>;
  /** Those of the tasks that exist. */
  find(ids: string[]): Promise<Task[]>;
  /** A second call with the same `nonce` and title returns the task that the first one made. */
  create(task: Written, now: Date, nonce?: string): Promise<Task>;
  /** Changes what differs. A task that is finished or reopened gets `now` as its `updated_at`. */
  update(id: string, change: Change, now: Date, match?: string): Promise<Task>;
  /** Removes the task; `restore(removal)` can bring it back for a day. */
  destroy(id: string, removal: string, match?: string): Promise<void>;
  /**
   * Removes all finished tasks under one `removal`, a few thousand at a time, and returns how many those were. If that
   * fails halfway, the error has the `count`; that many can be restored, and the rest cleared by another call.
   */
  clearFinished(removal: string): Promise<number>;
  /** What `restore(removal)` would bring back; undefined if it is too late or was done before. */
  removed(removal: string): Promise<Removed | undefined>;
  /** What was removed in the last day and not restored, the last first: one more than are shown, if there are more. */
  removals(): Promise<RecentRemoval[]>;
  /**
   * Restores what was removed, with the same ids, and returns how many tasks that were. It works a few thousand at a
   * time; if it fails halfway, a second call continues.
   *
   * @throws TaskError `unknown_removal` if it is too late or was done before
   */
  restore(removal: string): Promise<number>;
  /** Adds all of `tasks` in one step, or none; nothing either in a second call with the same `nonce` and titles. */
  insert(tasks: NewTask[], nonce?: string): Promise<void>;
  /** All tasks by ascending `_id`, in batches. Inserted in this order, they make the same list. */
  export(): AsyncIterable<Task[]>;
}

/** Announces changes of the list, whichever replica made them. */
export interface Changes {
  /** Calls `subscriber` with the version of the list: soon, after each change, and every 5 s. Returns how to stop. */
  subscribe(subscriber: (version: string) => void): () => void;
}

/** Code points of a title. */
const maxTitleLength = 500;

/** No code point in NFC is typed with more than four (Unicode 17: U+1F82 and its like), so no more are normalized. */
const maxTyped = 4 * maxTitleLength;

/**
 * A character that can be seen. White space, marks without a base, invisible and unassigned code points alone (and the
 * blanks that Unicode counts among symbols) would make a row that nobody can read or click.
 */
const visible = /[^\p{M}\p{Z}\p{Cc}\p{Cf}\p{Cs}\p{DI}\p{NChar}\u2800\u{1D159}]/u;

/**
 * The title that was typed, in Unicode NFC and without surrounding white space.
 *
 * @throws TaskError `invalid_title`
 */
export function readTitle(typed: string): string {
  const trimmed = typed.trim();
  requireLength(trimmed, maxTyped);
  const title = trimmed.normalize('NFC');
  if (title === '') throw new TaskError('invalid_title', 'A task needs a title.');
  if (!visible.test(title)) throw new TaskError('invalid_title', 'A title needs a visible character.');
  requireLength(title, maxTitleLength);
  if (/\p{Cc}/u.test(title) || !title.isWellFormed()) {
    throw new TaskError(
      'invalid_title',
      'A title is one line of text: no line breaks, tabs or other control characters.',
    );
  }
  return title;
}

function requireLength(title: string, max: number): void {
  const { length } = [...title];
  if (length <= max) return;
  throw new TaskError(
    'invalid_title',
    `A title has at most ${maxTitleLength} characters; this one has ${length}.`,
  );
}
