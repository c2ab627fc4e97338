import { Refusal } from './errors.ts';

export interface Task {
  /** Assigned by the store, in ascending order; it has exactly one spelling. */
  _id: string;
  title: string;
  finished: 0 | 1;
  /** ISO 8601, UTC, milliseconds. */
  created_at: string;
  /** When the task was last finished or reopened; absent before that. */
  updated_at?: string;
  /** The version of the list that its last change made: what an `ETag` is made of. */
  revision: number;
}

export const filters = ['all', 'open', 'finished'] as const;
export type Filter = (typeof filters)[number];

/** Tasks a page shows. */
export const pageSize = 100;

export interface ListQuery {
  filter: Filter;
  /** The `next` of the page before; absent for the first page. */
  after?: string | undefined;
}

/** One page of the list: unfinished tasks first, then `_id` descending. */
export interface Page {
  /** Another one after every change of any task. */
  version: string;
  tasks: Task[];
  /** How many tasks there are in all, whatever the page shows. */
  open: number;
  finished: number;
  /** The cursor of the next page; absent on the last. */
  next?: string;
  /** The first task of the next page, which moves up as soon as one of these is gone. */
  following?: Task;
}

/** What an update changes. */
export interface Change {
  title?: string | undefined;
  finished?: 0 | 1 | undefined;
}

/** A task from elsewhere: all but what the store gives it. */
export type NewTask = Omit<Task, '_id' | 'revision'>;

/** Tasks that were removed together, and can be brought back. */
export interface Removed {
  removal: string;
  count: number;
  /** Of the task, where it was one. */
  title?: string;
}

/** What became of clearing: how many tasks were removed, and why it ended where some were left. */
export interface Cleared {
  count: number;
  stop?: Refusal;
}

/** Which revisions a task may have to be changed: those of an `If-Match` field, or `*` for any. */
export type Match = string;

/**
 * Keeps the tasks. Every change of a task is one atomic step: it happens wholly and is on disk when its
 * promise resolves, or not at all.
 *
 * @throws Refusal `unknown_task` where a task is asked for that there is not; `revision_changed` where it
 *   is another revision than those in `match`; `store_unavailable`.
 */
export interface TaskStore {
  /**
   * One page. Where `known` is given, the page that the same query found before, what has not changed since
   * is not read again: its tasks come back as the same objects, and all of it where nothing changed at all.
   *
   * @throws Refusal `bad_cursor`
   */
  list(query: ListQuery, known?: Page): Promise<Page>;
  show(id: string): Promise<Task>;
  /** A second call with the same `nonce` and title returns the task that the first one made. */
  create(title: string, now: Date, nonce?: string): Promise<Task>;
  /** Changes what differs. A task that is finished or reopened gets `now` as its `updated_at`. */
  update(id: string, change: Change, now: Date, match?: Match): Promise<Task>;
  /** Removes the task; `restore(removal)` brings it back for a day. */
  destroy(id: string, removal: string, match?: Match): Promise<void>;
  /**
   * Removes all finished tasks under one `removal`, some thousands at a time. Where that ends on the way, what
   * was removed until then can be brought back, and the rest cleared as before.
   */
  clearFinished(removal: string): Promise<Cleared>;
  /** What `restore(removal)` would bring back; undefined where it is too late, or was done before. */
  removed(removal: string): Promise<Removed | undefined>;
  /**
   * Brings back what was removed, with the ids it had, and says how many tasks that were. It goes some
   * thousands at a time; where it fails on the way, a second call goes on.
   *
   * @throws Refusal `unknown_removal` where it is too late, or was done before
   */
  restore(removal: string): Promise<number>;
  /** Adds all of `tasks`, in one step, or none. */
  insert(tasks: NewTask[]): Promise<void>;
  /** Every task by ascending `_id`, in batches. Inserted again in this order, the list is the same. */
  export(): AsyncIterable<Task[]>;
}

/** Announces changes of the list, whichever replica made them. */
export interface Changes {
  /** Calls `tell` with the version of the list soon, after every change, and every 5 s; returns how to stop that. */
  subscribe(tell: (version: string) => void): () => void;
}

/** Code points of a title, at most. */
const maxTitleLength = 500;

/**
 * The title that was meant by what was typed: Unicode NFC, without white space round it.
 *
 * @throws Refusal `invalid_title`
 */
export function readTitle(typed: string): string {
  const title = typed.normalize('NFC').trim();
  const length = [...title].length;
  if (length === 0) throw new Refusal('invalid_title', 'A task needs a title.');
  if (length > maxTitleLength) {
    throw new Refusal(
      'invalid_title',
      `A title has at most ${maxTitleLength} characters; this one has ${length}.`,
    );
  }
  if (/\p{Cc}/u.test(title) || !title.isWellFormed()) {
    throw new Refusal(
      'invalid_title',
      'A title is one line of text: no line breaks, tabs or other control characters.',
    );
  }
  return title;
}
