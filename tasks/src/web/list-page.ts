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
import { weakTag } from './responses.ts';
import type { Render } from './views.ts';

/** What differs between the pages of two requests for the same list. */
export interface FormValues {
  csrf: string;
  nonce: string;
  removed?: Removed | undefined;
}

/** The list alone, without a token. */
export interface Partial {
  html: string;
  etag: string;
}

/** The same, and the version of the store that it shows. */
interface Rendered extends Partial {
  page: Page;
  /** `html` in UTF-8: encoding 67 KB again for each request would cost more than the rest of the page. */
  bytes: Buffer;
}

export interface ListPage {
  /** In UTF-8. */
  page(query: ListQuery, forms: FormValues): Promise<Buffer<ArrayBuffer>>;
  partial(query: ListQuery): Promise<Partial>;
}

/** Where the list goes in its page. No title has this character. */
const place = '\0';

/**
 * Renders the list. The first page of each filter is rendered and tagged once per version of the store, and then only
 * the tasks that changed; the rest of the page is rendered with each request.
 */
export function listPage(store: Pick<TaskStore, 'list'>, render: Render): ListPage {
  const firstPages = new Map(filters.map((filter) => [filter, coalesce(firstPage(filter))]));
  const rows = new WeakMap<Task, string>();

  return {
    async page(query, forms) {
      const { page, bytes } = await rendered(query);
      const [before = '', after = ''] = render('list', { ...forms, page, list: place }).split(place);
      return Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)]);
    },
    partial: rendered,
  };

  async function rendered(query: ListQuery): Promise<Rendered> {
    const first = query.after === undefined && firstPages.get(query.filter);
    return first ? first() : renderPartial(query, await store.list(query));
  }

  function firstPage(filter: Filter): () => Promise<Rendered> {
    let last: Rendered | undefined;
    return async () => {
      const page = await store.list({ filter }, last?.page);
      if (last?.page !== page) last = renderPartial({ filter }, page);
      return last;
    };
  }

  function renderPartial(query: ListQuery, page: Page): Rendered {
    const html = render('tasks', { page, query, row });
    return { page, html, bytes: Buffer.from(html), etag: weakTag(html) };
  }

  /** The task's row. A task that did not change is the same object. */
  function row(task: Task): string {
    const html = rows.get(task) ?? render('task', { task });
    rows.set(task, html);
    return html;
  }
}
