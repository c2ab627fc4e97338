import { hash, randomUUID } from 'node:crypto';
import { createSearch } from '../task/search.ts';
import { filters, type ListQuery, type Page, pageSize, type Task } from '../task/task.ts';
import { coalesce } from './coalesce.ts';
import { clientOf, listSearch, type TasksContext, turnsOf } from './context.ts';
import type { Dependencies } from './dependencies.ts';
import { createRows } from './rows.ts';
import { number, type Place, type Undo } from './views.ts';

/** The parts of a page that differ between two requests for the same list. */
interface FormValues {
  csrf: string;
  nonce: string;
}

type Used = Pick<Dependencies, 'store' | 'render' | 'turns' | 'auth'>;

/** Renders the list: a filter's first page once per version of the store, and each row once per revision of its task. */
export function listPage({ store, render, turns, auth }: Used) {
  const rows = createRows(render);
  const search = createSearch(store);
  const firstPages = new Map(filters.map((filter) => [filter, coalesce(firstPage({ filter }))]));

  const list = (c: TasksContext, { q, ...query }: ListQuery): Promise<Page> =>
    q === undefined ? store.list(query) : search({ ...query, q }, clientOf(c), turnsOf(c, turns));

  return {
    list,
    /** The list alone, without a token. Its ETag is not the version, because the next release may render it differently. */
    async partial(c: TasksContext, query: ListQuery) {
      const shown = await version(c, query);
      shown.etag ||= `W/"${hash('sha256', shown.html, 'base64url')}"`;
      return shown;
    },
    /** The page. Its notice offers to undo the last change or to show an added task. */
    async page(
      c: TasksContext,
      query: ListQuery,
      forms: FormValues & { proxied: boolean },
      undo?: Undo,
      added?: Task,
    ): Promise<Buffer<ArrayBuffer>> {
      const { page, summary, html } = await version(c, query);
      const back = listSearch(query);
      const values = {
        ...forms,
        summary,
        open: `${page.open}`,
        undo,
        added,
        locked: auth !== undefined,
        back,
      };
      return put(render('list', { ...values, list: mark }), [html]);
    },
  };

  async function version(c: TasksContext, query: ListQuery) {
    const isFirst = query.after === undefined && query.q === undefined;
    const first = isFirst && firstPages.get(query.filter);
    return first ? first() : shown(query, await list(c, query), turnsOf(c, turns));
  }

  function firstPage(query: ListQuery) {
    // All clients share it.
    const turn = () => turns([]);
    let last: Awaited<ReturnType<typeof shown>> | undefined;
    return async () => {
      const page = await store.list(query, last?.page);
      if (last?.page !== page) last = await shown(query, page, turn);
      return last;
    };
  }

  async function shown(query: ListQuery, page: Page, turn: () => Promise<void>) {
    const { open, finished } = page;
    const summary = open > 0 ? `${number(open)} open` : finished > 0 ? 'All done' : 'No tasks';
    const searchable = query.q !== undefined || open + finished > pageSize;
    const place = placeOf(page, query);
    const around = render('tasks', { page, summary, query, searchable, place, rows: mark });
    const html = put(around, await rows(page.tasks, listSearch(query), turn));
    return { page, summary, html, etag: '' };
  }
}

/** A change may have shortened an earlier page meanwhile; it counts all the same. */
function placeOf({ open, finished, before }: Page, { filter }: ListQuery): Place {
  const total = { all: open + finished, open, finished }[filter];
  // A task added above does not renumber the pages.
  const pagesBefore = before && Math.max(1, Math.round(before / pageSize));
  return {
    total,
    number: pagesBefore + 1,
    count: pagesBefore + Math.max(1, Math.ceil((total - before) / pageSize)),
  };
}

/** Marks the place of rendered HTML. It is secret, so no title contains it. */
const mark = randomUUID();

/** Puts `html` into `page`: buffers are joined faster than strings. */
function put(page: string, html: readonly Uint8Array[]): Buffer<ArrayBuffer> {
  const [before = '', after = ''] = page.split(mark);
  return Buffer.concat([Buffer.from(before), ...html, Buffer.from(after)]);
}
