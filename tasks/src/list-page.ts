import { createHash, randomUUID } from 'node:crypto';
import type { Render } from './pages.ts';
import type { Filter, ListQuery, Page, TaskStore } from './task.ts';

/** The list as it was rendered for one version. */
interface Rendered {
  version: string;
  etag: string;
  /** The list alone. */
  partial: string;
  /** The page, parted where its forms go. */
  before: string;
  after: string;
}

export interface ListPage {
  /** The whole page, with `forms` put in. */
  page(query: ListQuery, forms: object): Promise<string>;
  /** The list alone, which holds no token, with a tag that is another one after each change. */
  partial(query: ListQuery): Promise<{ etag: string; html: string }>;
}

/**
 * Renders the list. The first page of each filter is rendered once for each version of the store, and only
 * the forms, which carry a token of their own every time, are rendered with each request.
 */
export function listPage(store: Pick<TaskStore, 'list'>, render: Render): ListPage {
  /** Stands for the forms. Nobody can guess it, so no title holds it. */
  const slot = randomUUID();
  const first = new Map<Filter, Rendered>();

  return {
    async page(query, forms) {
      const { before, after } = await rendered(query);
      return before + render('forms', { ...forms, query }) + after;
    },
    async partial(query) {
      const { etag, partial } = await rendered(query);
      return { etag, html: partial };
    },
  };

  async function rendered(query: ListQuery): Promise<Rendered> {
    const known = query.after === undefined ? first.get(query.filter) : undefined;
    const page = await store.list(query, known?.version);
    if (!page) return known as Rendered;
    const fresh = renderPage(query, page);
    if (query.after === undefined) first.set(query.filter, fresh);
    return fresh;
  }

  function renderPage(query: ListQuery, page: Page): Rendered {
    const partial = render('tasks', { page, query });
    const [before = '', after = ''] = render('list', { page, query, forms: slot, tasks: partial }).split(
      slot,
    );
    // Of the content rather than the version: the views change as well, with a new release.
    const etag = `"${createHash('sha256').update(partial).digest('base64url').slice(0, 22)}"`;
    return { version: page.version, etag, partial, before, after };
  }
}
