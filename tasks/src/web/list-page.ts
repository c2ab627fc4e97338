import { randomBytes, randomUUID } from 'node:crypto';
import {
  type Filter,
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
import { type Pieces, weakTag } from './responses.ts';
import type { Place, Render } from './views.ts';

/** What differs between the pages of two requests for the same list. */
export interface FormValues {
  csrf: string;
  nonce: string;
}

/** The list alone, without a token. */
export interface Partial {
  html: string;
  etag: string;
}

export interface ListPage {
  /** The page, which offers to undo what was removed, or to show what was added. */
  page(query: ListQuery, forms: FormValues, removed?: Removed, added?: Task): Promise<string | Pieces>;
  partial(query: ListQuery): Promise<Partial>;
}

/** One version of the list. What is asked for is made once. */
interface Version {
  page: Page;
  html: string;
  etag: () => string;
  fill: () => (forms: FormValues) => Pieces;
}

/**
 * Renders the list: the first page of each filter once per version of the store, all others with each request.
 *
 * @param locked whether one has logged in to see it, and may log out.
 */
export function listPage(store: Pick<TaskStore, 'list'>, render: Render, locked = false): ListPage {
  const firstPages = new Map(filters.map((filter) => [filter, coalesce(firstPage(filter))]));

  return {
    async page(query, forms, removed, added) {
      const { page, html, fill } = await version(query);
      if (!removed && !added) return fill()(forms);
      return render('list', { ...forms, removed, added, page, list: html, locked, back: listSearch(query) });
    },
    async partial(query) {
      const { html, etag } = await version(query);
      return { html, etag: etag() };
    },
  };

  async function version(query: ListQuery): Promise<Version> {
    const first = query.after === undefined && firstPages.get(query.filter);
    return first ? first() : renderVersion(query, await store.list(query), rememberRows(render, query));
  }

  function firstPage(filter: Filter): () => Promise<Version> {
    const rows = rememberRows(render, { filter });
    let last: Version | undefined;
    return async () => {
      const page = await store.list({ filter }, last?.page);
      if (last?.page !== page) last = renderVersion({ filter }, page, rows);
      return last;
    };
  }

  function renderVersion(query: ListQuery, page: Page, rows: (tasks: Task[]) => string): Version {
    const back = listSearch(query);
    const html = render('tasks', { page, query, place: placeOf(page, query), rows: rows(page.tasks) });
    return {
      page,
      html,
      etag: once(() => weakTag(html)),
      fill: once(() =>
        fillable(render('list', { ...sample, page, list: mark, locked, back }), Buffer.from(html)),
      ),
    };
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

/** Values that nobody can know, to render a page with. */
const sample: FormValues = { csrf: randomBytes(64).toString('base64url'), nonce: randomUUID() };

/** Where they are; what is split here keeps them. */
const places = new RegExp(`(${sample.csrf}|${sample.nonce})`);

/** Stands for the list in such a page. */
const mark = randomUUID();

/**
 * Takes a page that was rendered with the sample and the mark, and returns a function that fills in a request's values.
 * All requests share the buffer of the list: to copy its 70 KB costs more than the rest of the page.
 */
function fillable(page: string, list: Buffer): (forms: FormValues) => Pieces {
  const [before = [], after = []] = page.split(mark).map((text) => text.split(places));
  const fill = (parts: string[], { csrf, nonce }: FormValues) =>
    parts.map((part) => (part === sample.csrf ? csrf : part === sample.nonce ? nonce : part)).join('');
  return (forms) => [fill(before, forms), list, fill(after, forms)];
}

/** Renders rows, but none again that was on the list of the time before. */
function rememberRows(render: Render, query: ListQuery): (tasks: Task[]) => string {
  const back = listSearch(query);
  let before = new Map<string, string>();
  return (tasks) => {
    const rows = new Map<string, string>();
    for (const task of tasks) {
      const key = `${task._id} ${task.revision}`;
      rows.set(key, before.get(key) ?? render('task', { task, back }));
    }
    before = rows;
    return [...rows.values()].join('');
  };
}

function once<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
