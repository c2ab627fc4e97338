import { hash, randomUUID } from 'node:crypto';
import { clientAddress } from '@longhand/shared/client-address.ts';
import { takeTurn } from '@longhand/shared/routes.ts';
import { createSearch } from '../task/search.ts';
import { filters, type ListQuery, type Page, pageSize } from '../task/task.ts';
import { coalesce } from './coalesce.ts';
import { listSearch, type TasksContext } from './context.ts';
import type { Dependencies } from './dependencies.ts';
import { createRows } from './rows.ts';
import { number, type Place, type Views } from './views.ts';

/** Values that differ between responses with the same list. */
type Own = Pick<
  Views['list'],
  'csrf' | 'nonce' | 'proxied' | 'undo' | 'undone' | 'added' | 'addedIds' | 'gone'
>;

type Used = Pick<Dependencies, 'store' | 'render' | 'turns' | 'auth'>;

/** Renders the list. First pages are cached per list version, and rows per task revision. */
export function listPage({ store, render, turns, auth }: Used) {
  const rows = createRows(render);
  const search = createSearch(store);
  const firstPages = new Map(filters.map((filter) => [filter, coalesce(firstPage({ filter }))]));

  const list = (c: TasksContext, { q, ...query }: ListQuery): Promise<Page> =>
    q === undefined ? store.list(query) : search({ ...query, q }, clientAddress(c), () => takeTurn(c));

  return {
    list,
    /** Returns the list without the surrounding page. The ETag hashes the HTML, which another release may render differently. */
    async partial(c: TasksContext, query: ListQuery) {
      const shown = await version(c, query);
      shown.etag ||= `W/"${hash('sha256', shown.html, 'base64url')}"`;
      return shown;
    },
    /** Returns a function that renders the page. */
    async page(c: TasksContext, query: ListQuery, own: Own): Promise<() => Buffer<ArrayBuffer>> {
      const { page, summary, html } = await version(c, query);
      const { filter, q } = query;
      const searchable = q !== undefined || page.open + page.finished > pageSize;
      const values = {
        ...own,
        filter,
        q,
        searchable,
        summary,
        open: `${page.open}`,
        locked: auth !== undefined,
      };
      return () => put(render('list', { ...values, back: listSearch(query), list: mark }), [html]);
    },
  };

  async function version(c: TasksContext, query: ListQuery) {
    const isFirst = query.after === undefined && query.q === undefined;
    const first = isFirst && firstPages.get(query.filter);
    return first ? first() : shown(query, await list(c, query), () => takeTurn(c));
  }

  function firstPage(query: ListQuery) {
    // All clients share the first page, so rendering does not wait for a client's turn.
    const turn = async () => turns(() => []);
    let last: Awaited<ReturnType<typeof shown>> | undefined;
    return async () => {
      const page = await store.list(query, last?.page);
      if (last?.page !== page) last = await shown(query, page, turn);
      return last;
    };
  }

  async function shown(query: ListQuery, page: Page, turn: () => Promise<void>) {
    const summary = query.q === undefined ? counted(page) : `Find: ${query.q}`;
    const values = { page, summary, query, place: placeOf(page, query) };
    const shownRows = await rows(page.tasks, listSearch(query), turn);
    await turn();
    const html = put(render('tasks', { ...values, rows: mark }), shownRows);
    return { page, summary, html, etag: '' };
  }
}

/** Returns how many tasks are open, in words. */
function counted({ open, finished }: Page): string {
  if (open > 0) return `${number(open)} open`;
  return finished > 0 ? 'All done' : 'No tasks';
}

/** Returns the page number and count. A later page is at least page 2, even if few tasks precede it. */
function placeOf({ open, finished, before }: Page, { filter }: ListQuery): Place {
  const total = { all: open + finished, open, finished }[filter];
  // Rounding keeps the page number stable when a task is added above.
  const pagesBefore = before && Math.max(1, Math.round(before / pageSize));
  return {
    total,
    number: pagesBefore + 1,
    count: pagesBefore + Math.max(1, Math.ceil((total - before) / pageSize)),
  };
}

/** Placeholder for rendered rows in the page, random so that no title contains it. */
const mark = randomUUID();

/** Inserts `html` at the mark. Joining buffers is faster than joining strings. */
function put(page: string, html: readonly Uint8Array[]): Buffer<ArrayBuffer> {
  const [before = '', after = ''] = page.split(mark);
  return Buffer.concat([Buffer.from(before), ...html, Buffer.from(after)]);
}
