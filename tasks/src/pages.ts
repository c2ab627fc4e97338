import { Eta } from 'eta';
import type { PublicFiles } from './public-files.ts';

/** Renders `views/<view>.eta` with `data`; every value is escaped unless the view says otherwise. */
export type Render = (view: string, data: object) => string;

/** The templates of `folder`, compiled at first use. In them `it.href('style.css')` is a public file's path. */
export function views(folder: string, files: PublicFiles): Render {
  const eta = new Eta({ views: folder, cache: true, autoEscape: true, varName: 'it' });
  return (view, data) => eta.render(view, { href: files.href, ...data });
}
