import { type Render as RenderViews, views as sharedViews } from '@longhand/shared/views.ts';
import type { Report } from '../task/import.ts';
import type { Change, ListQuery, Page, Removed, Task } from '../task/task.ts';
import type { PublicFiles } from './static-files.ts';

/** What each view shows. */
export interface Views {
  list: { csrf: string; nonce: string; removed?: Removed | undefined; page: Page; list: string };
  tasks: { page: Page; query: ListQuery; rows: string };
  task: { task: Task };
  show: { task: Task; csrf: string };
  new: Typed & { nonce: string };
  edit: Typed & { id: string; revision: string | number };
  import: Typed & { text?: string | undefined; report?: Report; typed?: string[] };
  error: { status: number; detail: string; removal?: string | undefined; requestId?: string | undefined };
}

/** A form: its token, and if it is shown again what was typed and why it was refused. */
interface Typed extends Partial<Record<keyof Change, string | number | undefined>> {
  csrf: string;
  problem?: string;
}

export type Render = RenderViews<Views>;

// Both formats are made at first use: each takes as long as loading a library.
let utc: Intl.DateTimeFormat | undefined;
let english: Intl.NumberFormat | undefined;

/** A count as people write it: 12,345. */
function number(count: number): string {
  english ??= new Intl.NumberFormat('en');
  return english.format(count);
}

/** A time in UTC; `public/times.js` shows it in the reader's time zone. */
function time(iso: string): string {
  utc ??= new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });
  return `${utc.format(new Date(iso))} UTC`;
}

/**
 * The views of `folder`. They get `href` (a public file's path by its name), `time` (an ISO 8601 time for people) and
 * `number` (a count for people).
 *
 * @param onMissing called where a view would print a value that is not there; by default that throws.
 */
export function views(folder: string, files: PublicFiles, onMissing?: (fault: Error) => void): Render {
  const render = sharedViews<Views>(folder, onMissing);
  return (name, data) => render(name, { href: files.href, time, number, ...data });
}
