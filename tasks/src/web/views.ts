import { Eta } from 'eta';
import type { PublicFiles } from './static-files.ts';

/** Renders `views/<view>.eta` with `data`. Values are escaped unless the view says otherwise. */
export type Render = (view: string, data: object) => string;

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
 * The templates of `folder`, compiled at first use. They get `href` (a public file's path by its name), `time` (an ISO
 * 8601 time for people) and `number` (a count for people).
 */
export function views(folder: string, files: PublicFiles): Render {
  const eta = new Eta({ views: folder, cache: true, autoEscape: true, varName: 'it' });
  return (view, data) => eta.render(view, { href: files.href, time, number, ...data });
}
