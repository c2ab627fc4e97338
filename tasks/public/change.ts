import { morph, shownVersion, showReceived } from './morph.js';
import { complain, mention, readable, recovered } from './notice.js';

/** Milliseconds a response may take: longer than the proxy waits for it. */
const deadline = 15_000;

/** A request that failed. The user reads its message. Without a response the status is 0. */
export class Failure extends Error {
  status = 0;
  page?: Document;
}

/** Fetches a page as a browser would, and follows redirects. @throws {Failure} */
export async function load(url: string, init?: RequestInit): Promise<Document> {
  const options = { headers: { Accept: 'text/html' }, signal: AbortSignal.timeout(deadline), ...init };
  const [response, text] = await fetch(url, options)
    .then(async (answer) => [answer, await answer.text()] as const)
    .catch(() => Promise.reject(new Failure('No connection.')));
  if (response.status === 401 || new URL(response.url).pathname === '/login')
    throw Object.assign(new Failure('You are logged out.'), { status: 401 });
  const page = new DOMParser().parseFromString(text, 'text/html');
  // A hotel's login page may answer instead of us, with 200.
  if (response.ok && page.querySelector('#list, form.write')) return page;
  const reason = page.querySelector('.problem') ?? page.querySelector('h1');
  const message = reason?.textContent || `This failed (error ${response.status}). Please try again.`;
  throw Object.assign(new Failure(message), { status: response.status, page });
}

/** The message of a deletion without a response. */
export const perhapsDeleted = 'No answer. It may be deleted.';

/** Shows a failure and what to do about it. Login opens a new tab, so that typed text stays. */
export function report(failure: unknown) {
  if (!(failure instanceof Failure)) {
    console.error(failure);
    return complain('Something went wrong. Reload the page.');
  }
  const { message, status, page } = failure;
  const loggedOut = status === 401;
  // The server may have deleted the task although the request failed.
  const removed = message === perhapsDeleted || page?.querySelector('a[href*="removal="]');
  const list = removed ? { href: '/tasks/removals', textContent: 'Recently deleted' } : undefined;
  const login = { href: '/login', target: '_blank', textContent: 'Log in' };
  const passes = loggedOut || status < 400 || status >= 500;
  complain(message, passes ? readable : undefined, loggedOut ? login : list);
}

/** Steps run one after the other, so that no response overtakes another. */
let queue = Promise.resolve();

export function enqueue(step: () => unknown) {
  queue = queue.then(step).then(() => {}, report);
}

interface Change {
  /** Called when its turn comes; undefined sends nothing. */
  request: () => RequestInit | undefined;
  done?: (page: ParentNode) => void;
  failed?: (failure: Failure) => void;
  /** The message if no response comes. */
  lost?: string;
  /** Rows that look `as` the change leaves them, at once and for at least `milliseconds`. */
  rows?: Iterable<HTMLElement>;
  as?: string;
  milliseconds?: number;
}

/** A request that submits a form like a browser. */
export const post = (data: FormData): RequestInit => ({
  method: 'POST',
  body: new URLSearchParams([...data] as [string, string][]),
});

/** A form from views/forms.eta. `randomUUID` would need HTTPS. */
export function formOf(name: 'edit' | 'lines', id = '') {
  const { text } = document.getElementById(`${name}-form`) as HTMLScriptElement;
  const csrf = document.querySelector<HTMLInputElement>('[name=_csrf]')?.value;
  const values = { id, csrf, nonce: crypto.getRandomValues(new Uint32Array(4)).join('-') };
  const html = text.replace(/{(\w+)}/g, (_, name) => values[name as keyof typeof values] ?? '');
  return document.createRange().createContextualFragment(html).querySelector('form') as HTMLFormElement;
}

let underWay = 0;

// Leaving the page would lose queued changes.
addEventListener('beforeunload', (event) => underWay > 0 && event.preventDefault());

function count(changes: number) {
  underWay += changes;
  document.body.classList.toggle('busy', underWay > 0);
}

/** Sends a change when its turn comes, and shows the page that comes back. */
export function change(url: string, options: Change) {
  const { request, done, failed = report, lost, rows = [], as = 'gone', milliseconds = 0 } = options;
  const until = performance.now() + milliseconds;
  const pending = [...rows];
  for (const { dataset } of pending) dataset.pending = as;
  const settle = () => {
    // A later change may have marked the row again.
    for (const { dataset } of pending) if (dataset.pending === as) delete dataset.pending;
  };
  count(1);
  enqueue(async () => {
    try {
      const init = request();
      if (!init) return;
      const page = await load(url, init);
      const rest = until - performance.now();
      if (rest <= 0) settle();
      morph('main', page, done);
      if (rest > 0) setTimeout(() => [settle(), showReceived()], rest);
    } catch (error) {
      settle();
      if (!(error instanceof Failure)) throw error;
      if (error.status === 0) error.message = lost ?? 'Not saved: no connection.';
      // The list and the tokens may be out of date.
      if (error.page) await refresh('main').catch(() => {});
      failed(error);
    } finally {
      count(-1);
    }
  });
}

/** Loads the list, if it has changed, or the whole page with fresh tokens. */
export async function refresh(part: '#list' | 'main' = '#list') {
  const path = part === 'main' ? '/' : '/tasks/partial';
  const { searchParams } = new URL(location.href);
  for (const name of ['removal', 'cleared', 'added']) searchParams.delete(name);
  morph(part, await load(`${path}?${searchParams}`, { cache: 'no-cache' }));
}

let latest = shownVersion();

/** Catches up with `version` of the list. */
export function heard(version: string) {
  latest = version;
  recovered();
  enqueue(async () => {
    const shown = shownVersion();
    if (latest === shown) return;
    await refreshQuietly();
    if (shown !== shownVersion())
      mention(`The list changed: ${document.getElementById('count')?.textContent}`);
  });
}

/** Only the end of the session is reported: the user did not ask for this, and the server soon sends the version again. */
export const refreshQuietly = () =>
  refresh().catch((error) => (error.status === 401 || !(error instanceof Failure)) && report(error));
