import { type Render as RenderViews, views as sharedViews } from '@longhand/shared/views.ts';
import type { Report } from '../task/import.ts';
import type { Change, Filter, ListQuery, Page, RecentRemoval, Task } from '../task/task.ts';
import { linked } from './links.ts';
import type { PublicFiles } from './static-files.ts';

/** What each view shows. */
export interface Views {
  list: {
    csrf: string;
    nonce: string;
    locked: boolean;
    /** Whether it is behind the proxy, which has a front page. */
    proxied: boolean;
    undo?: Undo | undefined;
    added?: Task | undefined;
    summary: string;
    open: string;
    list: string;
  } & Back;
  tasks: {
    page: Page;
    summary: string;
    place: Place;
    query: ListQuery;
    /** The paths of the filters. */
    at: Record<Filter, string>;
    /** Whether there is more than one page to search. */
    searchable: boolean;
    rows: string;
  };
  task: { task: Task } & Back;
  show: { task: Task; csrf: string } & Back;
  new: Typed & { nonce: string; action?: string | undefined } & Back;
  edit: Typed & { id: string; revision: string | number; was?: string | undefined } & Back;
  removals: { removals: RecentRemoval[]; more: boolean; restored: number | undefined; csrf: string };
  import: Typed & {
    nonce: string;
    text?: string | undefined;
    report?: Report;
    typed?: string[];
  };
  login: { csrf: string; next: string; problem?: string };
  error: {
    list: string;
    status: number;
    detail: string;
    /** Where the same request is sent again, if it may succeed then. */
    again?: string | undefined;
    removal?: string | undefined;
    requestId?: string | undefined;
  };
}

/** Offers to undo the last change: its words, and the form that does it. */
export interface Undo {
  said: string;
  title?: string | undefined;
  action: string;
  fields: Record<string, string | number>;
}

/** A page among all pages of its filter, from 1. */
export interface Place {
  number: number;
  count: number;
  /** Number of tasks of its filter. */
  total: number;
}

/** What links and forms add to their addresses, to lead back to the part of the list that is shown: empty, or a query. */
interface Back {
  back: string;
}

/** A form: its token, and if it is shown again what was typed and why it was refused. */
interface Typed extends Partial<Record<keyof Change, string | number | undefined>> {
  csrf: string;
  problem?: string;
}

export type Render = RenderViews<Views>;

/** A count as people write it: 12,345. `Intl` takes longer, and 40 ms at its first use. */
export const number = (count: number) => `${count}`.replace(/\B(?=(\d{3}){1,5}$)/g, ',');

/** A time in UTC, such as `2 Jan 2026, 03:04 UTC`; `public/times.ts` shows it in the reader's time zone. */
const time = (iso: string) =>
  new Date(iso).toUTCString().replace(/^\w+, 0?(\d+ \w+ \d+) (\d+:\d+).*/, '$1, $2 UTC');

/**
 * The views of `folder`. They get `href` (a public file's path by its name), `time` (an ISO 8601 time for people), `linked` (a
 * title as HTML) and
 * `number` (a count for people).
 *
 * @param onMissing called where a view would print a value that is not there; by default that throws.
 */
export function views(folder: string, files: PublicFiles, onMissing?: (fault: Error) => void): Render {
  const render = sharedViews<Views>(folder, onMissing);
  return (name, data) => render(name, { href: files.href, time, number, linked, ...data });
}
