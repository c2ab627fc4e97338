import { Eta } from 'eta';
import type { PublicFiles } from './static-files.ts';

/** Renders `views/<view>.eta` with `data`; every value is escaped unless the view says otherwise. */
export type Render = (view: string, data: object) => string;

const utc = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

/** A count for people: 12,345. */
const number = new Intl.NumberFormat('en').format;

/** An instant for people, the same wherever they are: `public/times.js` says it in their own zone. */
const time = (iso: string) => `${utc.format(new Date(iso))} UTC`;

/**
 * The templates of `folder`, compiled at first use. In them `it.href('style.css')` is a public file's path,
 * `it.time(task.created_at)` says when that was, and `it.number(count)` how many.
 */
export function views(folder: string, files: PublicFiles): Render {
  const eta = new Eta({ views: folder, cache: true, autoEscape: true, varName: 'it' });
  return (view, data) => eta.render(view, { href: files.href, time, number, ...data });
}
