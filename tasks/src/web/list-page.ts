import { hash, randomUUID } from 'node:crypto';
import {
  filters,
  type ListQuery,
  type Page,
  pageSize,
  type Removed,
  type Task,
  type TaskStore,
} from '../task/task.ts';
import { coalesce } from './coalesce.ts';
import { listSearch } from './context.ts';
import { number, type Place, type Render } from './views.ts';

/** What differs between the pages of two requests for the same list. */
interface FormValues {
  csrf: string;
  nonce: string;
}

/**
 * Renders the list: the first page of each filter once per version of the store, all others with each request.
 *
 * @param locked whether one has logged in to see it, and may log out.
 */
export function listPage(store: Pick<TaskStore, 'list'>, render: Render, locked: boolean) {
  const firstPages = new Map(filters.map((filter) => [filter, coalesce(firstPage({ filter }))]));

  return {
    /** The list alone, without a token. Its version would not do as a tag: another release shows it in another way. */
    async partial(query: ListQuery) {
      const shown = await version(query);
      shown.etag ||= `W/"${hash('sha256', shown.html, 'base64url')}"`;
      return shown;
    },
    /** The page, which offers to undo what was removed, or to show what was added. */
    async page(
      query: ListQuery,
      forms: FormValues & { proxied: boolean },
      removed?: Removed & { cleared: boolean },
      added?: Task,
    ): Promise<Buffer<ArrayBuffer>> {
      const { page, summary, html } = await version(query);
      const back = listSearch(query);
      const values = { ...forms, summary, open: `${page.open}`, removed, added, locked, back };
      return put(render('list', { ...values, list: mark }), [html]);
    },
  };

  async function version(query: ListQuery) {
    const first = query.after === undefined && firstPages.get(query.filter);
    return first ? first() : renderer(query)(await store.list(query));
  }

  function firstPage(query: ListQuery) {
    const renderPage = renderer(query);
    let last: ReturnType<typeof renderPage> | undefined;
    return async () => {
      const page = await store.list(query, last?.page);
      if (last?.page !== page) last = renderPage(page);
      return last;
    };
  }

  /** Renders versions of one page, and no row again that was in the version before. */
  function renderer(query: ListQuery) {
    const back = listSearch(query);
    let rows = new Map<string, { revision: number; html: Buffer }>();
    const rowOf = (task: Task) => {
      const known = rows.get(task._id);
      if (known?.revision === task.revision) return known;
      return { revision: task.revision, html: Buffer.from(render('task', { task, back })) };
    };
    return (page: Page) => {
      rows = new Map(page.tasks.map((task) => [task._id, rowOf(task)]));
      const { open, finished } = page;
      const summary = open > 0 ? `${number(open)} open` : finished > 0 ? 'All done' : 'No tasks';
      const around = render('tasks', { page, summary, query, place: placeOf(page, query), rows: mark });
      const html = put(around, [...rows.values().map((row) => row.html)]);
      return { page, summary, html, etag: '' };
    };
  }
}

/** A change meanwhile may have made a page before this one shorter; it counts all the same. */
function placeOf({ open, finished, before }: Page, { filter }: ListQuery): Place {
  const total = { all: open + finished, open, finished }[filter];
  // A task that is added above leaves each page its number.
  const pagesBefore = before && Math.max(1, Math.round(before / pageSize));
  return {
    number: pagesBefore + 1,
    count: pagesBefore + Math.max(1, Math.ceil((total - before) / pageSize)),
  };
}

/** Where HTML goes that is rendered already. No title can contain it, because nobody knows it. */
const mark = randomUUID();

/** Puts `html` into `page`. Buffers are joined faster than strings. */
function put(page: string, html: readonly Buffer[]): Buffer<ArrayBuffer> {
  const [before = '', after = ''] = page.split(mark);
  return Buffer.concat([Buffer.from(before), ...html, Buffer.from(after)]);
}
