import { createHash, randomUUID } from 'node:crypto';
import {
  type Filter,
  filters,
  type ListQuery,
  type Page,
  type Removed,
  type Task,
  type TaskStore,
} from '../task/task.ts';
import { share } from './coalesce.ts';
import type { Render } from './views.ts';

/** A page of the list as it was rendered. */
interface Rendered {
  page: Page;
  /** The list alone. */
  partial: string;
  /** The whole page, parted where its forms go. */
  before: Buffer;
  after: Buffer;
}

/** What the forms of one page hold that those of no other do. */
export interface Forms {
  csrf: string;
  nonce: string;
  removed?: Removed | undefined;
}

export interface ListPage {
  /** The whole page, with `forms` put in, in pieces of which most are those of the page before. */
  page(query: ListQuery, forms: Forms): Promise<Buffer[]>;
  /** The list alone, which holds no token, with a tag that is another one after each change. */
  partial(query: ListQuery): Promise<{ etag: string; partial: string }>;
}

/**
 * Renders the list. The first page of each filter is rendered once for each version of the store, with only
 * the tasks that changed, and the forms, which carry a token of their own every time, with each request.
 */
export function listPage(store: Pick<TaskStore, 'list'>, render: Render): ListPage {
  /** Stand for the forms and for the list. Nobody can guess them, so no title holds them. */
  const [formsSlot, listSlot] = [randomUUID(), randomUUID()];
  const forms = formsPage(render);
  const first = new Map(filters.map((filter) => [filter, share(firstPage(filter))]));
  const rows = new WeakMap<Task, string>();

  return {
    async page(query, filled) {
      const { before, after } = await rendered(query);
      return [before, Buffer.from(forms(filled)), after];
    },
    async partial(query) {
      const { partial } = await rendered(query);
      // Of the content rather than the version: the views change as well, with a new release.
      const hash = createHash('sha256').update(partial).digest('base64url');
      return { etag: `"${hash.slice(0, 22)}"`, partial };
    },
  };

  async function rendered(query: ListQuery): Promise<Rendered> {
    const ask = query.after === undefined && first.get(query.filter);
    return ask ? ask() : renderPage(query, await store.list(query));
  }

  function firstPage(filter: Filter): () => Promise<Rendered> {
    let last: Rendered | undefined;
    return async () => {
      const page = await store.list({ filter }, last?.page);
      if (page !== last?.page) last = renderPage({ filter }, page);
      return last as Rendered;
    };
  }

  function renderPage(query: ListQuery, page: Page): Rendered {
    const partial = render('tasks', { page, query, row });
    const whole = render('list', { page, query, forms: formsSlot, tasks: listSlot });
    const [before = '', rest = ''] = whole.split(formsSlot);
    const after = rest.split(listSlot).join(partial);
    return { page, partial, before: Buffer.from(before), after: Buffer.from(after) };
  }

  /** The task as it stands in the list; a task that did not change is the same object. */
  function row(task: Task): string {
    const html = rows.get(task) ?? render('task', { task });
    rows.set(task, html);
    return html;
  }
}

/**
 * The forms, rendered once and filled in for each page: all that differs is a token and a nonce, of letters
 * that a view shows as they are. Whatever else they hold is rendered.
 */
function formsPage(render: Render): (forms: Forms) => string {
  const slots = { csrf: randomUUID(), nonce: randomUUID() };
  const rendered = render('forms', slots);
  return (forms) => {
    const { csrf, nonce, removed } = forms;
    if (removed || !/^[\w-]+$/.test(csrf + nonce)) return render('forms', forms);
    return rendered.replaceAll(slots.csrf, csrf).replaceAll(slots.nonce, nonce);
  };
}
