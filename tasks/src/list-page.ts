import { randomUUID } from 'node:crypto';
import type { Render } from './pages.ts';
import type { Filter, ListQuery, TaskStore } from './task.ts';

/** The list as it was rendered last, parted where the forms go. */
interface Rendered {
  version: string;
  before: string;
  after: string;
}

export type ListPage = (query: ListQuery, forms: object) => Promise<string>;

/**
 * Renders the list page. The first page of each filter is rendered once for each version of the list, and
 * only the forms, which carry a token of their own every time, are put in anew.
 */
export function listPage(store: Pick<TaskStore, 'list'>, render: Render): ListPage {
  /** Stands for the forms. Nobody can guess it, so no title holds it. */
  const slot = randomUUID();
  const first = new Map<Filter, Rendered>();

  return async (query, forms) => {
    const known = query.after === undefined ? first.get(query.filter) : undefined;
    const rendered = (await fresh(query, known)) ?? (known as Rendered);
    return rendered.before + render('forms', forms) + rendered.after;
  };

  async function fresh(query: ListQuery, known: Rendered | undefined): Promise<Rendered | undefined> {
    const page = await store.list(query, known?.version);
    if (!page) return undefined;
    const [before = '', after = ''] = render('list', { page, query, forms: slot }).split(slot);
    const rendered = { version: page.version, before, after };
    if (query.after === undefined) first.set(query.filter, rendered);
    return rendered;
  }
}
