import { randomBytes, randomUUID } from 'node:crypto';
import {
  type Filter,
  filters,
  type ListQuery,
  type Page,
  type Removed,
  type Task,
  type TaskStore,
} from '../task/task.ts';
import { coalesce } from './coalesce.ts';
import { type Pieces, weakTag } from './responses.ts';
import type { Render } from './views.ts';

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
  /** The page, which offers to undo what was removed. */
  page(query: ListQuery, forms: FormValues, removed?: Removed): Promise<string | Pieces>;
  partial(query: ListQuery): Promise<Partial>;
}

/** One version of the list. What is asked for is made once. */
interface Version {
  page: Page;
  html: string;
  etag: () => string;
  fill: () => (forms: FormValues) => Pieces;
}

/** Renders the list: the first page of each filter once per version of the store, all others with each request. */
export function listPage(store: Pick<TaskStore, 'list'>, render: Render): ListPage {
  const firstPages = new Map(filters.map((filter) => [filter, coalesce(firstPage(filter))]));

  return {
    async page(query, forms, removed) {
      const { page, html, fill } = await version(query);
      return removed ? render('list', { ...forms, removed, page, list: html }) : fill()(forms);
    },
    async partial(query) {
      const { html, etag } = await version(query);
      return { html, etag: etag() };
    },
  };

  async function version(query: ListQuery): Promise<Version> {
    const first = query.after === undefined && firstPages.get(query.filter);
    return first ? first() : renderVersion(query, await store.list(query), rememberRows(render));
  }

  function firstPage(filter: Filter): () => Promise<Version> {
    const rows = rememberRows(render);
    let last: Version | undefined;
    return async () => {
      const page = await store.list({ filter }, last?.page);
      if (last?.page !== page) last = renderVersion({ filter }, page, rows);
      return last;
    };
  }

  function renderVersion(query: ListQuery, page: Page, rows: (tasks: Task[]) => string): Version {
    const html = render('tasks', { page, query, rows: rows(page.tasks) });
    return {
      page,
      html,
      etag: once(() => weakTag(html)),
      fill: once(() => fillable(render('list', { ...sample, page, list: mark }), Buffer.from(html))),
    };
  }
}

/** Values that nobody can know, to render a page with. */
const sample: FormValues = { csrf: randomBytes(64).toString('base64url'), nonce: randomUUID() };

/** Stands for the list in such a page. */
const mark = randomUUID();

/**
 * Takes a page that was rendered with the sample and the mark, and returns a function that fills in a request's values.
 * All requests share the buffer of the list: to copy its 70 KB costs more than the rest of the page.
 */
function fillable(page: string, list: Buffer): (forms: FormValues) => Pieces {
  const [before = '', after = ''] = page.split(mark);
  const fill = (text: string, { csrf, nonce }: FormValues) =>
    text.replaceAll(sample.csrf, csrf).replaceAll(sample.nonce, nonce);
  return (forms) => [fill(before, forms), list, fill(after, forms)];
}

/** Renders rows, but none again that was on the list of the time before. */
function rememberRows(render: Render): (tasks: Task[]) => string {
  let before = new Map<string, string>();
  return (tasks) => {
    const rows = new Map<string, string>();
    for (const task of tasks) {
      const key = `${task._id} ${task.revision}`;
      rows.set(key, before.get(key) ?? render('task', { task }));
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
