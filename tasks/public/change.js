import { complain, offer } from './notice.js';
import { ahead, show, swap } from './swap.js';

/** Milliseconds a response may take: longer than the proxy waits for it. */
const deadline = 15_000;

/** A request that failed. The message says why, in words for people. */
class RequestFailed extends Error {
  /**
   * @param {string} message
   * @param {Document} [page] the response, if there was one
   * @param {number} [status] its status
   */
  constructor(message, page, status = 0) {
    super(message);
    this.page = page;
    this.status = status;
    /** Whether the response says that nothing was changed. */
    this.refused = status >= 400 && status < 500;
  }
}

/**
 * Fetches a page as a browser would, and follows redirects.
 *
 * @param {string} url
 * @param {RequestInit} [init]
 * @throws {RequestFailed}
 */
export async function load(url, init) {
  try {
    const options = { ...init, headers: { Accept: 'text/html' }, signal: AbortSignal.timeout(deadline) };
    const response = await fetch(url, options);
    if (response.status === 401 || new URL(response.url).pathname === '/login') {
      throw new RequestFailed('You are logged out.', undefined, 401);
    }
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    // The log-in page of a network may answer instead of us, with 200.
    if (response.ok && page.querySelector('#list, form.write, #keys')) return { url: response.url, page };
    const reason = page.querySelector('.problem') ?? page.querySelector('h1');
    const message = reason?.textContent || `This failed (error ${response.status}). Please try again.`;
    throw new RequestFailed(message, page, response.status);
  } catch (error) {
    if (error instanceof RequestFailed) throw error;
    throw new RequestFailed('No connection.');
  }
}

/**
 * Says what failed, and where to log in if that is the reason: in a new tab, so that what was typed stays.
 *
 * @param {Error} error
 */
export function report(error) {
  const { message, refused, status } = /** @type {RequestFailed} */ (error);
  const loggedOut = status === 401;
  complain(message, loggedOut || !refused);
  if (loggedOut) offer('Log in', '/login', '_blank');
}

/** What is under way. One step at a time, so that no response overtakes another. */
let queue = Promise.resolve();

/** @param {() => Promise<void>} step */
export function enqueue(step) {
  queue = queue.then(step).catch(report);
}

/** Which part of the list the page at `url` shows. */
function query(url = location.href) {
  const { searchParams } = new URL(url);
  searchParams.delete('removal');
  searchParams.delete('added');
  return `${searchParams}`;
}

/** `url`, made to lead back to what is shown now: a form may have come with another part of the list. @param {string} url */
function here(url) {
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

/**
 * Loads what a change is answered with. A form that has expired is renewed and sent again.
 *
 * @param {string} url
 * @param {RequestInit} request
 */
async function sendFresh(url, request) {
  try {
    return await load(url, request);
  } catch (error) {
    const { body } = request;
    if (!(error instanceof RequestFailed && error.status === 403 && body instanceof URLSearchParams))
      throw error;
    const { page } = await load(location.href);
    for (const form of document.forms) renew(form, page, '_csrf');
    body.set('_csrf', /** @type {HTMLInputElement} */ (page.querySelector('[name=_csrf]')).value);
    return load(url, request);
  }
}

// What waits for its turn would be lost with the page.
addEventListener('beforeunload', (event) => ahead.size > 0 && event.preventDefault());

/**
 * Sends a change when its turn comes, and shows the list that results.
 *
 * @param {string} url
 * @param {() => RequestInit | undefined | Promise<RequestInit | undefined>} init what to send then; undefined: nothing
 * @param {object} options
 * @param {(page: Document) => void} options.done
 * @param {(failure: RequestFailed) => void | Promise<void>} [options.failed]
 * @param {unknown} [options.key] a second change with the key of one that is under way (a double click) is not sent
 * @param {(list: HTMLElement) => void} [options.act] shows it at once, in a copy of the list
 */
export function change(url, init, { done, failed = showFailure, key = url, act = () => {} }) {
  if (ahead.has(key)) return;
  ahead.set(key, act);
  show();
  document.body.classList.add('busy');
  enqueue(async () => {
    try {
      const request = await init();
      if (!request) return;
      const response = await sendFresh(here(url), request);
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

/** @param {RequestFailed} failure */
export async function showFailure(failure) {
  // The server answered, so the list on this page may be out of date.
  if (failure.page) await refresh().catch(() => {});
  report(failure);
  // A removal that failed may have happened all the same.
  if (failure.page?.querySelector('a[href*="removal="]')) offer('Recently deleted', '/tasks/removals');
}

/**
 * Takes hidden fields from the first form on `page` that has them.
 *
 * @param {HTMLFormElement} form
 * @param {Document} page
 * @param {string[]} names
 */
export function renew(form, page, ...names) {
  for (const name of names) {
    const selector = `input[type=hidden][name=${name}]`;
    const fresh = /** @type {HTMLInputElement | null} */ (page.querySelector(selector));
    const field = /** @type {HTMLInputElement | null} */ (form.querySelector(selector));
    if (fresh && field) field.value = fresh.value;
  }
}
