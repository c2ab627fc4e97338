import { bring, claim, receive } from './calm.js';
import { textOf } from './dom.js';
import type { Part } from './morph.js';
import { endComplaints, report } from './notice.js';
import { begin, cancelNext, end, type Pending } from './pending.js';
import { addedIn, type Failure, failureOf, load } from './request.js';
import { checkRest } from './rest.js';

/** Runs steps in order, so no response overtakes another. */
let queue = Promise.resolve();
export function enqueue(step: () => unknown) {
  queue = queue
    .then(step)
    .then(undefined, (error) => report(failureOf(error)))
    .then(checkRest);
}

interface Change extends Partial<Pending> {
  /** Called after earlier changes, and perhaps a second time. Returns undefined to send nothing. */
  request: () => { url: string; init: RequestInit } | undefined;
  /** Whether the change can wait for a connection. It does so as soon as the connection is lost. */
  canWait?: boolean;
  /** Called once the server has made the change, before the list shows it. */
  saved?: (page: Document) => void;
  /** The next change waits until this has resolved. */
  failed?: (failure: Failure) => unknown;
}

const rowIds = (ids: string[]) => ids.map((id) => `task-${id}`);

/** Sends a request, once more with new tokens if the server has refused those of the page, and has changed nothing. */
async function send({ request, canWait }: Change): Promise<Document | undefined> {
  const sent = request();
  if (!sent) return undefined;
  try {
    return await load(sent.url, sent.init, canWait);
  } catch (error) {
    if (failureOf(error).kind !== 'expired') throw error;
  }
  await refresh('main');
  const again = request();
  return again && load(again.url, again.init, canWait);
}

/** Sends a change after earlier changes, and shows the page in the response. */
export function change({ request, canWait, saved, failed = report, rows = [], as }: Change) {
  const tasks = rows.map((row) => ({ id: row.id, title: textOf(row).title ?? '' }));
  const ids = tasks.map(({ id }) => id);
  const pending = { rows, as };
  // An edit does not move its row.
  const moving = as ? ids : [];
  claim(moving);
  begin(pending);
  enqueue(async () => {
    try {
      const page = await send({ request, canWait });
      if (!page) return end(pending);
      // The list may have settled since.
      claim(moving);
      bring(rowIds(addedIn(page) ?? []));
      saved?.(page);
      receive('main', page);
      endComplaints(ids);
      end(pending);
    } catch (error) {
      const failure = failureOf(error);
      failure.tasks = tasks;
      failure.as = as;
      await fail(failure);
    }
  });

  async function fail(failure: Failure) {
    cancelNext();
    end(pending);
    await failed(failure);
    // The list and the tokens may be out of date.
    if (failure.page) await refresh('main').catch(() => {});
  }
}

/** Loads the list if it has changed, or the whole page with new tokens. */
export async function refresh(part: Part = '#list') {
  receive(part, await load(listUrl(part), { cache: 'no-cache' }));
}

/** Asks for the tasks that the request with this key has added, calls `saved` if there are any, and shows the list. */
export async function askFor(key: string, saved: () => void) {
  const headers = { 'Idempotency-Key': key };
  const page = await load(listUrl('main'), { cache: 'no-cache', headers });
  const added = addedIn(page);
  bring(rowIds(added ?? []));
  if (added) saved();
  receive('main', page);
  return added !== undefined;
}

/** The address of this list, without its notice. */
function listUrl(part: Part) {
  const { searchParams } = new URL(location.href);
  for (const name of ['removal', 'cleared', 'undone', 'kept', 'added']) searchParams.delete(name);
  return `${part === 'main' ? '/' : '/tasks/partial'}?${searchParams}`;
}
