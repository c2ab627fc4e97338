import { morph, shownVersion } from './morph.js';
import { complain, mention, readable, recovered } from './notice.js';

/** Milliseconds a response may take: longer than the proxy waits for it. */
const deadline = 15_000;

/** A request that failed. The message says why, in words for people. */
export class Failure extends Error {
  /** 0 if there was no response. */
  status: number;
  page: Document | undefined;

  constructor(message: string, status = 0, page?: Document) {
    super(message);
    this.status = status;
    this.page = page;
  }
}

/**
 * Fetches a page as a browser would, and follows redirects.
 *
 * @throws {Failure}
 */
export async function load(url: string, init?: RequestInit): Promise<Document> {
  const options = { headers: { Accept: 'text/html' }, signal: AbortSignal.timeout(deadline), ...init };
  const [response, text] = await fetch(url, options)
    .then(async (answer) => [answer, await answer.text()] as const)
    .catch(() => Promise.reject(new Failure('No connection.')));
  const { ok, status } = response;
  if (status === 401 || new URL(response.url).pathname === '/login')
    throw new Failure('You are logged out.', 401);
  const page = new DOMParser().parseFromString(text, 'text/html');
  // The log-in page of a network may answer instead of us, with 200.
  if (ok && page.querySelector('#list, form.write')) return page;
  const reason = page.querySelector('.problem') ?? page.querySelector('h1');
  throw new Failure(reason?.textContent || `This failed (error ${status}). Please try again.`, status, page);
}

/** Says what failed, and what to do about it: log in, in a new tab, so that what was typed stays. */
export function report(failure: Failure) {
  const { message, status, page } = failure;
  const loggedOut = status === 401;
  // A removal that failed may have happened all the same.
  const removed = page?.querySelector('a[href*="removal="]');
  const link = loggedOut
    ? { href: '/login', target: '_blank', textContent: 'Log in' }
    : removed && { href: '/tasks/removals', textContent: 'Recently deleted' };
  complain(message, loggedOut || status < 400 || status >= 500 ? readable : undefined, link ?? undefined);
}

/** What is under way. One step at a time, so that no response overtakes another. */
let queue = Promise.resolve();

export function enqueue(step: () => Promise<unknown>) {
  queue = queue.then(step).then(() => {}, report);
}

interface Change {
  /** What to send when its turn comes; undefined: nothing. */
  request: () => RequestInit | undefined;
  done: (page: Document) => void;
  failed?: (failure: Failure) => void;
  /** What it changes. The style shows at once what becomes of it. */
  rows?: Iterable<HTMLElement>;
  as?: string;
}

/** A form as browsers send it. */
export const post = (data: FormData): RequestInit => ({
  method: 'POST',
  body: new URLSearchParams([...data] as [string, string][]),
});

let underWay = 0;

// What waits for its turn would be lost with the page.
addEventListener('beforeunload', (event) => underWay > 0 && event.preventDefault());

function count(changes: number) {
  underWay += changes;
  document.body.classList.toggle('busy', underWay > 0);
}

/** Sends a change when its turn comes, and shows the page that comes back. */
export function change(url: string, { request, done, failed = report, rows = [], as = 'gone' }: Change) {
  const pending = [...rows];
  for (const { dataset } of pending) dataset.pending = as;
  const settle = () => {
    // It may have been finished and reopened meanwhile.
    for (const { dataset } of pending) if (dataset.pending === as) delete dataset.pending;
  };
  count(1);
  enqueue(async () => {
    try {
      const init = request();
      if (!init) return;
      const page = await load(url, init);
      settle();
      morph('main', page, done);
    } catch (error) {
      settle();
      if (!(error instanceof Failure)) throw error;
      if (error.status === 0) error.message = 'Not saved: no connection.';
      // The server answered, so the list may be out of date, and so may the tokens.
      if (error.page) await refresh('main').catch(() => {});
      failed(error);
    } finally {
      count(-1);
    }
  });
}

/** Which part of the list is shown. */
function query() {
  const { searchParams } = new URL(location.href);
  for (const name of ['removal', 'cleared', 'added']) searchParams.delete(name);
  return `${searchParams}`;
}

/** Shows the current list, which the server sends only if it changed; or the current page, with fresh tokens. */
export async function refresh(part: '#list' | 'main' = '#list') {
  const path = part === 'main' ? '/' : '/tasks/partial';
  morph(part, await load(`${path}?${query()}`, { cache: 'no-cache' }));
}

let latest = shownVersion();

/** @param version of the current list */
export function heard(version: string) {
  latest = version;
  recovered();
  enqueue(catchUp);
}

async function catchUp() {
  const shown = shownVersion();
  if (latest === shown) return;
  await refreshQuietly();
  if (shown !== shownVersion()) mention(`The list changed: ${document.getElementById('count')?.textContent}`);
}

/** Failures stay silent unless the session has ended: nobody asked for this, and the server soon sends the version again. */
export const refreshQuietly = () => refresh().catch((error) => error.status === 401 && report(error));
