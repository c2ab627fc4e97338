import { Eta } from 'eta';
import type { PublicFiles } from './static-files.ts';

/** Renders `views/<view>.eta` with `data`. Values are escaped unless the view says otherwise. */
export type Render = (view: string, data: object) => string;

const utc = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

/** A count as people write it: 12,345. */
const number = new Intl.NumberFormat('en').format;

/** A time in UTC; `public/times.js` shows it in the reader's time zone. */
const time = (iso: string) => `${utc.format(new Date(iso))} UTC`;

/**
 * The templates of `folder`, compiled at first use. They get `href` (a public file's path by its name), `time` (an ISO
 * 8601 time for people) and `number` (a count for people).
 */
export function views(folder: string, files: PublicFiles): Render {
  const eta = new Eta({ views: folder, cache: true, autoEscape: true, varName: 'it' });
  return (view, data) => eta.render(view, { href: files.href, time, number, ...data });
}
