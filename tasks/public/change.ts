import { complain, offer } from './notice.ts';
import { type Act, ahead, show, swap } from './swap.ts';

/** Milliseconds a response may take: longer than the proxy waits for it. */
const deadline = 15_000;

/** A request that failed. The message says why, in words for people. */
class RequestFailed extends Error {
  /** 0 if there was no response. */
  status: number;
  page: Document | undefined;

  constructor(message: string, status = 0, page?: Document) {
    super(message);
    this.status = status;
    this.page = page;
  }

  /** Whether the response says that nothing was changed. */
  get refused() {
    return this.status >= 400 && this.status < 500;
  }
}

/**
 * Fetches a page as a browser would, and follows redirects.
 *
 * @throws {RequestFailed}
 */
export async function load(url: string, init?: RequestInit) {
  try {
    const options = { ...init, headers: { Accept: 'text/html' }, signal: AbortSignal.timeout(deadline) };
    const response = await fetch(url, options);
    if (response.status === 401 || new URL(response.url).pathname === '/login') {
      throw new RequestFailed('You are logged out.', 401);
    }
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    // The log-in page of a network may answer instead of us, with 200.
    if (response.ok && page.querySelector('#list, form.write, #keys')) return { url: response.url, page };
    const reason = page.querySelector('.problem') ?? page.querySelector('h1');
    const message = reason?.textContent || `This failed (error ${response.status}). Please try again.`;
    throw new RequestFailed(message, response.status, page);
  } catch (error) {
    if (error instanceof RequestFailed) throw error;
    throw new RequestFailed('No connection.');
  }
}

/** Says what failed, and where to log in if that is the reason: in a new tab, so that what was typed stays. */
export function report(error: Error) {
  const { message, refused, status } = error as RequestFailed;
  const loggedOut = status === 401;
  complain(message, loggedOut || !refused);
  if (loggedOut) offer('Log in', '/login', '_blank');
}

/** What is under way. One step at a time, so that no response overtakes another. */
let queue = Promise.resolve();

export function enqueue(step: () => Promise<void>) {
  queue = queue.then(step).catch(report);
}

/** Which part of the list the page at `url` shows. */
function query(url = location.href) {
  const { searchParams } = new URL(url);
  searchParams.delete('removal');
  searchParams.delete('added');
  return `${searchParams}`;
}

/** `url`, made to lead back to what is shown now: a form may have come with another part of the list. */
function here(url: string) {
  const to = new URL(url, location.href);
  to.search = query();
  return to.href;
}

/** Shows the current list, unless that fails, which is said only to whom the session has ended. */
export const refreshQuietly = () =>
  refresh().catch((error) => {
    if (error.status === 401) report(error);
  });

/** Shows the current list; the server sends it only if it changed. */
export async function refresh() {
  const { page } = await load(`/tasks/partial?${query()}`, { cache: 'no-cache' });
  swap(page);
}

/** Loads what a change is answered with. A form that has expired is renewed and sent again. */
async function sendFresh(url: string, request: RequestInit) {
  try {
    return await load(url, request);
  } catch (error) {
    const { body } = request;
    if (!(error instanceof RequestFailed && error.status === 403 && body instanceof URLSearchParams))
      throw error;
    const { page } = await load(location.href);
    for (const form of document.forms) renew(form, page, '_csrf');
    body.set('_csrf', (page.querySelector('[name=_csrf]') as HTMLInputElement).value);
    return load(url, request);
  }
}

// What waits for its turn would be lost with the page.
addEventListener('beforeunload', (event) => ahead.size > 0 && event.preventDefault());

interface Change {
  /** What to send when its turn comes; undefined: nothing. */
  request: () => RequestInit | undefined;
  done: (page: Document) => void;
  failed?: (failure: RequestFailed) => unknown;
  /** A second change with the key of one that is under way (a double click) is not sent; by default its URL. */
  key?: unknown;
  /** Shows it at once. */
  act?: Act;
}

/** Sends a change when its turn comes, and shows the list that results. */
export function change(
  url: string,
  { request, done, failed = showFailure, key = url, act = () => {} }: Change,
) {
  if (ahead.has(key)) return;
  ahead.set(key, act);
  show();
  document.body.classList.add('busy');
  enqueue(async () => {
    try {
      const init = request();
      if (!init) return;
      const response = await sendFresh(here(url), init);
      ahead.delete(key);
      done(response.page);
      if (query(response.url) === query()) swap(response.page);
      // The change is made. If the list cannot be loaded now, the next event triggers a refresh.
      else await refresh().catch(() => {});
    } catch (error) {
      if (ahead.delete(key)) show();
      if (!(error instanceof RequestFailed)) throw error;
      if (error.status === 0) error.message = 'Not saved: no connection.';
      await failed(error);
    } finally {
      ahead.delete(key);
      document.body.classList.toggle('busy', ahead.size > 0);
    }
  });
}

export async function showFailure(failure: RequestFailed) {
  // The server answered, so the list on this page may be out of date.
  if (failure.page) await refresh().catch(() => {});
  report(failure);
  // A removal that failed may have happened all the same.
  if (failure.page?.querySelector('a[href*="removal="]')) offer('Recently deleted', '/tasks/removals');
}

/** Takes hidden fields from the first form on `page` that has them. */
export function renew(form: HTMLFormElement, page: Document, ...names: string[]) {
  for (const name of names) {
    const selector = `input[type=hidden][name=${name}]`;
    const fresh = page.querySelector(selector) as HTMLInputElement | null;
    const field = form.querySelector(selector) as HTMLInputElement | null;
    if (fresh && field) field.value = fresh.value;
  }
}
