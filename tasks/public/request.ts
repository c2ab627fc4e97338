import type { Operation } from './kept.js';
import { isOffline } from './offline.js';

type Kind =
  | 'no answer'
  | 'logged out'
  | 'expired'
  | 'conflict'
  | 'gone'
  | 'invalid'
  | 'refused'
  | 'script error';

/** Milliseconds to wait for a response, longer than the proxy. */
const patience = 15_000;

/** A failed request. The message is for the user. */
export class Failure extends Error {
  readonly kind: Kind;
  /** Whether the server may have made the change. */
  readonly mayHaveHappened: boolean;
  /** The error page, if the server has sent one. */
  readonly page: Document | undefined;
  /** The tasks of the change. */
  tasks: { id: string; title: string }[] = [];
  /** The state in which the change leaves the tasks. */
  as: 'finished' | 'open' | 'gone' | undefined;

  constructor(
    kind: Kind,
    message: string,
    more: { mayHaveHappened?: boolean; page?: Document; cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause });
    this.kind = kind;
    this.mayHaveHappened = more.mayHaveHappened ?? false;
    this.page = more.page;
  }

  /** Whether the request failed only because there was no connection. */
  get wasNotSent() {
    return this.kind === 'no answer' && !this.mayHaveHappened;
  }
}

/** Returns `error` itself, or for a script error a failure without its details. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error;
  return new Failure('script error', 'Something went wrong. Reload the page.', { cause: error });
}

const kinds: Partial<Record<number, Kind>> = {
  401: 'logged out',
  403: 'expired',
  404: 'gone',
  412: 'conflict',
  422: 'invalid',
};

/** Milliseconds without a response until a probe, and until the probe has failed. */
const probePatience = 5_000;

/** Milliseconds until the next probe after one without a response, so that not each change in the queue waits for its own. */
const probePause = 1_000;

let pausedUntil = 0;

/** Checks whether the server responds, and tells the page. */
export async function reach(): Promise<boolean> {
  if (performance.now() < pausedUntil) return false;
  const signal = AbortSignal.timeout(probePatience);
  const response = await fetch('/public/worker.js', { method: 'HEAD', cache: 'no-store', signal }).catch(
    () => undefined,
  );
  if (signal.aborted) pausedUntil = performance.now() + probePause;
  const isReached = response !== undefined && response.status < 500;
  dispatchEvent(new Event(isReached ? 'connected' : 'connectionlost'));
  return isReached;
}

async function noAnswer(): Promise<never> {
  // Tells the page if the connection is lost, so that the change can wait.
  if (!isOffline()) await reach();
  // A request may arrive although the connection is lost before its response.
  throw new Failure('no answer', 'No answer. It may not be saved.', { mayHaveHappened: navigator.onLine });
}

/** @throws {Failure} */
export function notSent(): never {
  throw new Failure('no answer', 'This needs a connection.');
}

/** @throws {Failure} */
export function loggedOut(): never {
  throw new Failure('logged out', 'You are logged out.');
}

/**
 * Fetches a page and follows redirects.
 *
 * @param canWait whether to end at once when the connection is lost, because the change can wait
 * @throws {Failure}
 */
export async function load(url: string, init: RequestInit = {}, canWait = false): Promise<Document> {
  const isChange = init.method !== undefined;
  // A server that hangs could still make the change after the page has said that it needs a connection.
  if (isChange && isOffline() && !(await reach())) notSent();
  const ended = new AbortController();
  const { signal } = ended;
  const end = () => ended.abort();
  setTimeout(end, patience);
  const doubt = setTimeout(reach, probePatience);
  if (canWait) addEventListener('connectionlost', end, { signal });
  try {
    return await fetchPage(url, { ...init, signal });
  } finally {
    end();
    clearTimeout(doubt);
  }
}

async function fetchPage(url: string, init: RequestInit): Promise<Document> {
  const headers = { Accept: 'text/html', ...init.headers };
  const isChange = init.method !== undefined;
  const response = await fetch(url, { ...init, headers }).catch(isChange ? noAnswer : notSent);
  const { ok, status, redirected } = response;
  const text = await response.text().catch(noAnswer);
  if (status < 500) dispatchEvent(new Event('connected'));
  if (status === 401 || new URL(response.url).pathname === '/login') loggedOut();
  const page = new DOMParser().parseFromString(text, 'text/html');
  // A captive portal may respond with its own login page and status 200.
  if (ok && page.querySelector('#list, form.write')) return page;
  // The server redirects after a change. So the change was saved, but reading the list failed.
  if (isChange && redirected && status >= 500) return load(response.url, { headers }).catch(noAnswer);
  const reason = page.querySelector('.problem') ?? page.querySelector(ok ? 'h1' : '.error h1');
  const message = reason?.textContent || `This failed (error ${status}). Please try again.`;
  throw new Failure(kinds[status] ?? 'refused', message, {
    mayHaveHappened: redirected || status >= 500,
    page,
  });
}

/** What the server has answered. `later` if it has not, or wants a login. */
type Answer = { id: string; title: string; tag: string } | 'later' | { refusal: string };

/** The title as the server stores it. */
const stored = (title: string) => title.trim().normalize();

/** Sends a change that can be sent any number of times. */
export async function sendOperation({ key, title, finished, sentAs = [] }: Operation): Promise<Answer> {
  if (finished !== undefined) return sendJson('PUT', `/tasks/${key}`, { 'If-Match': '*' }, { finished });
  // The server knows a key only with the same title.
  const [first = title] = sentAs;
  const answer = await sendJson('POST', '/tasks', { 'Idempotency-Key': key }, { title: first });
  if (answer === 'later' || 'refusal' in answer || answer.title === stored(title)) return answer;
  // This user has corrected the line after it was sent, or somebody else has changed the task.
  if (!sentAs.some((sent) => stored(sent) === answer.title)) return answer;
  return sendJson('PUT', `/tasks/${answer.id}`, { 'If-Match': answer.tag }, { title });
}

async function sendJson(
  method: string,
  url: string,
  headers: Record<string, string>,
  body: object,
): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: { Accept: 'application/json', 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
    // A login in front of the list redirects to its page.
    redirect: 'error',
    signal: AbortSignal.timeout(patience),
  }).catch(() => undefined);
  if (response?.status === 401) dispatchEvent(new Event('loggedout'));
  if (!response || [401, 408, 429].includes(response.status) || response.status >= 500) return 'later';
  const { _id, title, detail } = await response.json().catch(() => ({}));
  if (!response.ok) return { refusal: detail ?? `This failed (error ${response.status}).` };
  return _id ? { id: _id, title, tag: `${response.headers.get('etag')}` } : 'later';
}

/** A random key for a request. `randomUUID` would need HTTPS. */
export const newKey = () => crypto.getRandomValues(new Uint32Array(4)).join('-');

/**
 * The request for a form, with the page's newest token. Its key lets the server name the tasks that the request has added. A list
 * may have 1 MiB, and percent encoding could make it three times as long.
 */
export function post(data: FormData, key?: string): RequestInit {
  const token = document.querySelector<HTMLInputElement>('[name=_csrf]');
  if (token) data.set('_csrf', token.value);
  const headers: Record<string, string> = key === undefined ? {} : { 'Idempotency-Key': key };
  const body = data.has('text') ? data : new URLSearchParams(data as never);
  return { method: 'POST', body, headers };
}

/** The IDs of the tasks that a request with a key has added, newest first; undefined if the server does not know the key. */
export const addedIn = (page: ParentNode) =>
  page.querySelector<HTMLElement>('#notice')?.dataset.added?.split(' ');
