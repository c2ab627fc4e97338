import { morph, showReceived, watchRows } from './morph.js';
import { complain, endComplaints } from './notice.js';

/** A failed request, with a message for the user. The status is 0 if there was no response. */
export class Failure extends Error {
  status = 0;
  page?: Document;
}

/** Fetches a page and follows redirects. Waits longer than the proxy. @throws {Failure} */
export async function load(url: string, init?: RequestInit): Promise<Document> {
  const lost = () => Promise.reject(new Failure('No answer. It may not be saved.'));
  const options = { headers: { Accept: 'text/html' }, signal: AbortSignal.timeout(15_000), ...init };
  const response = await fetch(url, options).catch(lost);
  if (response.status === 401 || new URL(response.url).pathname === '/login')
    throw Object.assign(new Failure('You are logged out.'), { status: 401 });
  const page = new DOMParser().parseFromString(await response.text().catch(lost), 'text/html');
  // A captive portal may respond with its own login page and status 200.
  if (response.ok && page.querySelector('#list, form.write')) return page;
  // The change was saved, but reading the list failed.
  if (init && response.redirected && response.status >= 500) return load(response.url).catch(lost);
  const reason = page.querySelector('.problem') ?? page.querySelector(response.ok ? 'h1' : '.error h1');
  const message = reason?.textContent || `This failed (error ${response.status}). Please try again.`;
  throw Object.assign(new Failure(message), { status: response.status, page });
}

/** Returns `error` itself, or for a script error a failure without its details. */
const failureOf = (error: unknown) =>
  error instanceof Failure ? error : new Failure('Something went wrong. Reload the page.', { cause: error });

/** Shows a failure and a useful link. Logs a script error. */
export function report(error: unknown) {
  const { message, status, page, cause } = failureOf(error);
  if (cause) console.error(cause);
  if (status === 401) return void dispatchEvent(new Event('loggedout'));
  const gone = message.endsWith('may be deleted.') || page?.querySelector('a[href*="removal="]');
  complain(message, false, gone ? { href: '/tasks/removals', textContent: 'Recently deleted' } : undefined);
}

/** Runs steps in order, so no response overtakes another. */
let queue = Promise.resolve();
export function enqueue(step: () => unknown) {
  queue = queue.then(step).then(() => {}, report);
}

interface Change {
  /** Called after earlier changes. Returns undefined to send nothing. */
  request: () => RequestInit | undefined;
  done?: (page: ParentNode) => void;
  failed?: (failure: Failure) => void;
  /** Elements that show the pending state `as` until the response arrives. */
  rows?: HTMLElement[];
  as?: string;
}

export const post = (data: FormData) => ({ method: 'POST', body: new URLSearchParams(data as never) });

/** Makes a form from views/forms.eta. `randomUUID` would need HTTPS. */
export function formOf(name: 'edit' | 'lines', id = '') {
  const { text } = document.getElementById(`${name}-form`) as HTMLScriptElement;
  const csrf = document.querySelector<HTMLInputElement>('[name=_csrf]')?.value;
  const values = { id, csrf, nonce: crypto.getRandomValues(new Uint32Array(4)).join('-') };
  const html = text.replace(/{(\w+)}/g, (_, name) => values[name as keyof typeof values] ?? '');
  return document.createRange().createContextualFragment(html).querySelector('form') as HTMLFormElement;
}

/** The rows of pending changes, which would be lost if the user left the page. */
const underWay: HTMLElement[][] = [];
addEventListener('beforeunload', (event) => underWay.length > 0 && event.preventDefault());

/** Runs `step` once after all pending changes, unless one of them fails. */
let following: (() => undefined) | undefined;
export function afterChanges(step: () => void) {
  if (underWay.length === 0) step();
  else following = () => void step();
}

/** Finished rows stay until a second after the last change of a row and its response: none moves during a quick series. */
let stay: Promise<unknown> = Promise.resolve();
const stayed = (last = stay): Promise<unknown> => last.then(() => last === stay || stayed());

/** Sends a change after earlier changes, and shows the page in the response. */
export function change(url: string, { request, done, failed = report, rows = [], as }: Change) {
  const titles = rows.flatMap((row) => row.querySelector('.title')?.textContent ?? []).join(', ');
  const about = titles && `\u2068${titles.replace(/^(.{60}).+/su, '$1…')}\u2069: `;
  const settleHidden = watchRows(true);
  for (const { dataset } of rows) dataset.pending = as;
  settleHidden();
  const settle = (waitFor = rows): unknown => {
    // A row with an open menu stays, unless its change failed. A later change may have marked the row again.
    if (waitFor.some((row) => row.querySelector('[open]')?.checkVisibility())) return setTimeout(settle, 300);
    for (const row of rows)
      if (!underWay.some((later) => later !== rows && later.includes(row))) delete row.dataset.pending;
    return showReceived();
  };
  underWay.push(rows);
  document.body.classList.add('busy');
  enqueue(async () => {
    try {
      const init = request();
      if (!init) return;
      morph('main', await load(url, init), done);
      endComplaints(about);
      as === 'finished' ? stayed().then(() => settle()) : settle();
    } catch (error) {
      following = undefined;
      const settleRows = watchRows(true);
      settle([]);
      const failure = failureOf(error);
      if (as === 'gone') failure.message = failure.message.replace('not be saved', 'be deleted');
      // A 412 message already has the current title.
      if (failure.status !== 412 && !failure.cause) failure.message = about + failure.message;
      failed(failure);
      settleRows();
      // The list and the tokens may be out of date.
      if (failure.page) await refresh('main').catch(() => {});
    } finally {
      underWay.shift();
      document.body.classList.toggle('busy', underWay.length > 0);
      if (underWay.length === 0) following = following?.();
    }
  });
  if (as) stay = Promise.all([queue, new Promise((resolve) => setTimeout(resolve, 1_000))]);
}

/** Loads the list if it has changed, or the whole page with new tokens. */
export async function refresh(part: '#list' | 'main' = '#list') {
  const path = part === 'main' ? '/' : '/tasks/partial';
  const { searchParams } = new URL(location.href);
  for (const name of ['removal', 'cleared', 'added']) searchParams.delete(name);
  morph(part, await load(`${path}?${searchParams}`, { cache: 'no-cache' }));
}
