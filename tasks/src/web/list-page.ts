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
import type { Pieces } from './responses.ts';
import { number, type Place, type Render } from './views.ts';

/** What differs between the pages of two requests for the same list. */
interface FormValues {
  csrf: string;
  nonce: string;
}

/** Puts what differs between requests, and the list, into the page around it. */
type Frame = (values: FormValues & { summary: string; open: string }, list: Buffer) => Pieces;

/**
 * Renders the list: the first page of each filter once per version of the store, all others with each request.
 *
 * @param locked whether one has logged in to see it, and may log out.
 */
export function listPage(store: Pick<TaskStore, 'list'>, render: Render, locked: boolean) {
  const firstPages = new Map(filters.map((filter) => [filter, coalesce(firstPage({ filter }))]));

  return {
    /** The list alone, without a token. Its version would be no tag: that of a restored backup may come again. */
    async partial(query: ListQuery) {
      const shown = await version(query);
      shown.etag ||= `W/"${hash('sha256', shown.html, 'base64url')}"`;
      return shown;
    },
    /** The page, which offers to undo what was removed, or to show what was added. */
    async page(query: ListQuery, forms: FormValues, removed?: Removed, added?: Task): Promise<Pieces> {
      const { page, summary, html, frame } = await version(query);
      const fill = removed || added ? renderFrame(query, removed, added) : frame();
      return fill({ ...forms, summary, open: `${page.open}` }, html);
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

  /** Renders versions of one page: its frame once, and no row again that was in the version before. */
  function renderer(query: ListQuery) {
    const back = listSearch(query);
    let rendered: Frame | undefined;
    const frame = () => {
      rendered ??= renderFrame(query);
      return rendered;
    };
    let rows = new Map<string, { revision: number; html: Buffer }>();
    const rowOf = (task: Task) => {
      const known = rows.get(task._id);
      if (known?.revision === task.revision) return known;
      return { revision: task.revision, html: Buffer.from(render('task', { task, back })) };
    };
    return (page: Page) => {
      rows = new Map(page.tasks.map((task) => [task._id, rowOf(task)]));
      const { open, finished } = page;
      const summary = open === 0 && finished > 0 ? 'All done' : `${number(open)} to do`;
      const around = render('tasks', { page, summary, query, place: placeOf(page, query), rows: secret });
      const [above = '', below = ''] = around.split(secret);
      // Buffers are joined faster than strings.
      const html = Buffer.concat([
        Buffer.from(above),
        ...Array.from(rows.values(), (row) => row.html),
        Buffer.from(below),
      ]);
      return { page, summary, html, frame, etag: '' };
    };
  }

  /** All requests share the buffer of the list: to copy its 70 KB costs more than the rest of the page. */
  function renderFrame(query: ListQuery, removed?: Removed, added?: Task): Frame {
    const page = render('list', { ...sample, removed, added, locked, back: listSearch(query) });
    const [before = [], after = []] = page.split(sample.list).map((text) => text.split(places));
    const fill = (parts: string[], values: object) =>
      parts.map((part, i) => (i % 2 ? values[part as keyof typeof values] : part)).join('');
    return (values, list) => [fill(before, values), list, fill(after, values)];
  }
}

/** A change meanwhile may have made a page before this one shorter; it counts all the same. */
function placeOf({ open, finished, before }: Page, { filter }: ListQuery): Place {
  const total = { all: open + finished, open, finished }[filter];
  const pagesBefore = Math.ceil(before / pageSize);
  return {
    number: pagesBefore + 1,
    count: pagesBefore + Math.max(1, Math.ceil((total - before) / pageSize)),
  };
}

/** What nobody can know marks the places of values in a page. */
const secret = randomUUID();

const sample = {
  csrf: `${secret}csrf`,
  nonce: `${secret}nonce`,
  summary: `${secret}summary`,
  open: `${secret}open`,
  list: `${secret}list`,
};

/** Splits a page at its values, and keeps their names. */
const places = new RegExp(`${secret}(csrf|nonce|summary|open)`);
