import { type Render as RenderViews, views as sharedViews } from '@longhand/shared/views.ts';
import type { Report } from '../task/import.ts';
import { type TaskText, textOf } from '../task/schema.ts';
import type { Change, ListQuery, Page, RecentRemoval, Task } from '../task/task.ts';
import { listSearch } from './context.ts';
import { linked } from './links.ts';
import type { PublicFiles } from './static-files.ts';

/** The data of each view. */
export interface Views {
  list: {
    csrf: string;
    nonce: string;
    locked: boolean;
    /** Whether to link to the proxy's front page. */
    proxied: boolean;
    undo?: Undo | undefined;
    undone?: Undone | undefined;
    added?: Task | undefined;
    /** The IDs of the tasks that the request has added, for scripts. */
    addedIds?: string | undefined;
    /** Whether the task to show as added does not exist. */
    gone: boolean;
    filter: string;
    /** The text to search for. */
    q: string | undefined;
    /** Whether to show Find. */
    searchable: boolean;
    /** The page's title. */
    summary: string;
    open: string;
    list: string;
  } & Back;
  tasks: {
    page: Page;
    summary: string;
    place: Place;
    query: ListQuery;
    rows: string;
  };
  preload: Pick<PublicFiles, 'href'>;
  task: { task: Task } & Back;
  show: { task: Task; csrf: string } & Back;
  new: Typed & { nonce: string; action?: string | undefined } & Back;
  edit: Typed & { id: string; revision: string | number; was: TaskText } & Back;
  removals: {
    removals: RecentRemoval[];
    more: boolean;
    /** The number of tasks just restored; NaN if the user only opened the page. */
    restored: number;
    csrf: string;
    nonce: string;
  };
  import: Typed & {
    nonce: string;
    text?: string;
    isFile?: string;
    report?: Report;
    typed?: Map<number, string>;
    undo?: Undo | undefined;
  };
  login: { csrf: string; next: string; problem?: string };
  error: {
    list: string;
    status: number;
    detail: string;
    /** The URL to retry, if a retry may succeed. */
    again?: string | undefined;
    removal?: string | undefined;
    requestId?: string | undefined;
  };
}

/** The text and form for undoing the last change. */
export interface Undo {
  said: string;
  title?: string | undefined;
  action: string;
  fields: Record<string, string | number>;
  /** The URL fragment of the task's row. */
  row?: string;
}

/** What taking back added tasks has done: `kept` tasks were changed since. */
export interface Undone {
  removed: number;
  kept: number;
}

/** Page number (from 1) and page count for the current filter. */
export interface Place {
  number: number;
  count: number;
  /** Number of matching tasks. */
  total: number;
}

/** The query string for links and forms that return to the same part of the list; may be empty. */
interface Back {
  back: string;
}

/** Data of a form: a CSRF token and, after an error, the submitted values and the error message. */
interface Typed extends Partial<Record<keyof Change, string | number | undefined>> {
  csrf: string;
  problem?: string;
}

export type Render = RenderViews<Views>;

/** Formats a count, such as 12,345, without `Intl`. The first use of `Intl` takes 40 ms. */
export function number(count: number): string {
  const groups: string[] = [];
  for (let digits = `${count}`; digits !== ''; digits = digits.slice(0, -3)) groups.unshift(digits.slice(-3));
  return groups.join(',');
}

/** Formats a time as `2 Jan 2026, 03:04 UTC`; `public/times.ts` shows it in the reader's time zone. */
const time = (iso: string) =>
  new Date(iso).toUTCString().replace(/^\w+, 0?(\d+ \w+ \d+) (\d+:\d+).*/, '$1, $2 UTC');

/** A task's text as JSON, for scripts. A browser may translate what the page displays. */
const taskData = (task: TaskText) => JSON.stringify(textOf(task));

/**
 * The views of `folder`. Views can use `href` (the path of a public file), `preload` (the links to the modules of the list),
 * `listSearch`, `time`, `number`, `taskData` and `linked` (a title as HTML).
 *
 * @param onMissing called if a view would print a missing value; the default throws
 */
export function views(folder: string, files: PublicFiles, onMissing?: (fault: Error) => void): Render {
  const render = sharedViews<Views>(folder, onMissing);
  // Each page of the list has these 30 links.
  const preload = render('preload', { href: files.href });
  return (name, data) =>
    render(name, { href: files.href, preload, listSearch, time, number, taskData, linked, ...data });
}
