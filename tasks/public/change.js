// @ts-check
import { complain, offer, takeNotice } from './notice.js';
import { swap } from './swap.js';

/** Milliseconds a response may take: longer than the proxy waits for it. */
const deadline = 15_000;

/** A request that failed. The message says why, in words for people. */
class RequestFailed extends Error {
  /**
   * @param {string} message
   * @param {Document} [page] the response, if there was one
   * @param {boolean} [refused] whether the response says that nothing was changed
   */
  constructor(message, page, refused = false) {
    super(message);
    this.page = page;
    this.refused = refused;
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
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    // The log-in page of a network may answer instead of us, with 200.
    if (response.ok && page.querySelector('#list, form.write')) return { url: response.url, page };
    throw new RequestFailed(
      reason(page) || `This failed (error ${response.status}). Please try again.`,
      page,
      response.status >= 400 && response.status < 500,
    );
  } catch (error) {
    if (error instanceof RequestFailed) throw error;
    throw new RequestFailed('This did not get through. Check the connection and try again.');
  }
}

/** @param {Document} page */
const reason = (page) => (page.querySelector('.problem') ?? page.querySelector('h1'))?.textContent;

/** What is under way. One step at a time, so that no response overtakes another. */
let queue = Promise.resolve();

/** @param {() => Promise<void>} step */
export function enqueue(step) {
  queue = queue.then(step).catch((error) => complain(error.message));
}

/** Which part of the list the page at `url` shows. */
const query = (url = location.href) => {
  const { searchParams } = new URL(url);
  return new URLSearchParams({
    filter: searchParams.get('filter') ?? 'all',
    ...(searchParams.has('after') && { after: `${searchParams.get('after')}` }),
  });
};

/** Shows the current list; the server sends it only if it changed. */
export async function refresh() {
  const { page } = await load(`/tasks/partial?${query()}`, { cache: 'no-cache' });
  swap(page);
}

/** The keys of the changes that are under way. */
const pending = new Set();

/**
 * Sends a change when its turn comes, and shows the list that results.
 *
 * @param {string} url
 * @param {() => RequestInit | undefined | Promise<RequestInit | undefined>} init what to send then; undefined: nothing
 * @param {(page: Document) => void} done
 * @param {(failure: RequestFailed) => void | Promise<void>} [failed]
 * @param {unknown} [key] a second change with the key of one that is under way (a double click) is not sent
 */
export function change(url, init, done, failed = showFailure, key = url) {
  if (pending.has(key)) return;
  pending.add(key);
  document.body.classList.add('busy');
  enqueue(async () => {
    try {
      const request = await init();
      if (!request) return;
      const response = await load(url, request);
      done(response.page);
      if (`${query(response.url)}` === `${query()}`) swap(response.page);
      // The change is made. If the list cannot be loaded now, the next event triggers a refresh.
      else await refresh().catch(() => {});
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error;
      await failed(error);
    } finally {
      pending.delete(key);
      document.body.classList.toggle('busy', pending.size > 0);
    }
  });
}

/** @param {RequestFailed} failure */
async function showFailure({ message, page }) {
  /** @type {HTMLAnchorElement | null | undefined} A removal that failed may have happened; this leads to its Undo. */
  const undo = page?.querySelector('a[href^="/?removal="]');
  const url = new URL(location.href);
  url.searchParams.delete('removal');
  for (const [name, value] of new URL(undo?.href ?? '/', url).searchParams) url.searchParams.set(name, value);
  // The server answered, so the list and the token on this page may be out of date. Refresh both, and the reader of
  // the message can go on.
  const current = page && (await load(url.href).catch(() => undefined))?.page;
  if (current) {
    swap(current);
    for (const form of document.forms) renew(form, current, '_csrf');
  }
  if (undo && current && takeNotice(current)) return;
  complain(message);
  if (undo && !current) offer('See what was deleted', undo.href);
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
