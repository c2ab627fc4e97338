import { hash, randomUUID } from 'node:crypto';
import type { Turns } from '@longhand/shared/turns.ts';
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
import { createRows } from './rows.ts';
import { number, type Place, type Render } from './views.ts';

/** What differs between the pages of two requests for the same list. */
interface FormValues {
  csrf: string;
  nonce: string;
}

/** For a turn of the event loop. */
type Turn = () => Promise<void>;

/**
 * Renders the list: the first page of each filter once per version of the store, and on all pages each row once per revision
 * of its task.
 *
 * @param locked whether one has logged in to see it, and may log out.
 */
export function listPage(store: Pick<TaskStore, 'list'>, render: Render, turns: Turns, locked: boolean) {
  const rows = createRows(render);
  const firstPages = new Map(filters.map((filter) => [filter, coalesce(firstPage({ filter }))]));

  return {
    /** The list alone, without a token. Its version would not do as a tag: another release shows it in another way. */
    async partial(query: ListQuery, turn: Turn) {
      const shown = await version(query, turn);
      shown.etag ||= `W/"${hash('sha256', shown.html, 'base64url')}"`;
      return shown;
    },
    /** The page, which offers to undo what was removed, or to show what was added. */
    async page(
      query: ListQuery,
      turn: Turn,
      forms: FormValues & { proxied: boolean },
      removed?: Removed & { cleared: boolean },
      added?: Task,
    ): Promise<Buffer<ArrayBuffer>> {
      const { page, summary, html } = await version(query, turn);
      const back = listSearch(query);
      const values = { ...forms, summary, open: `${page.open}`, removed, added, locked, back };
      return put(render('list', { ...values, list: mark }), [html]);
    },
  };

  async function version(query: ListQuery, turn: Turn) {
    const first = query.after === undefined && firstPages.get(query.filter);
    return first ? first() : shown(query, await store.list(query), turn);
  }

  function firstPage(query: ListQuery) {
    // All clients share it, so it is nobody's turn.
    const turn = () => turns([]);
    let last: Awaited<ReturnType<typeof shown>> | undefined;
    return async () => {
      const page = await store.list(query, last?.page);
      if (last?.page !== page) last = await shown(query, page, turn);
      return last;
    };
  }

  async function shown(query: ListQuery, page: Page, turn: Turn) {
    const { open, finished } = page;
    const summary = open > 0 ? `${number(open)} open` : finished > 0 ? 'All done' : 'No tasks';
    const around = render('tasks', { page, summary, query, place: placeOf(page, query), rows: mark });
    const html = put(around, await rows(page.tasks, listSearch(query), turn));
    return { page, summary, html, etag: '' };
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
function put(page: string, html: readonly Uint8Array[]): Buffer<ArrayBuffer> {
  const [before = '', after = ''] = page.split(mark);
  return Buffer.concat([Buffer.from(before), ...html, Buffer.from(after)]);
}
