type Kind = 'no answer' | 'logged out' | 'conflict' | 'gone' | 'invalid' | 'refused' | 'script error';

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
  /** Whether the change deletes the tasks. */
  isDeletion = false;

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
}

/** Returns `error` itself, or for a script error a failure without its details. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error;
  return new Failure('script error', 'Something went wrong. Reload the page.', { cause: error });
}

const kinds: Partial<Record<number, Kind>> = {
  401: 'logged out',
  404: 'gone',
  412: 'conflict',
  422: 'invalid',
};

function noAnswer(): Promise<never> {
  const isOffline = document.body.matches('.offline');
  const message = isOffline ? 'This needs a connection.' : 'No answer. It may not be saved.';
  // A request may arrive although the connection is lost before its response.
  return Promise.reject(new Failure('no answer', message, { mayHaveHappened: navigator.onLine }));
}

/** Fetches a page and follows redirects. @throws {Failure} */
export async function load(url: string, init: RequestInit = {}): Promise<Document> {
  const headers = { Accept: 'text/html', ...init.headers };
  const signal = AbortSignal.timeout(patience);
  const response = await fetch(url, { signal, ...init, headers }).catch(noAnswer);
  const { ok, status, redirected } = response;
  if (status === 401 || new URL(response.url).pathname === '/login')
    throw new Failure('logged out', 'You are logged out.');
  const text = await response.text().catch(noAnswer);
  if (status < 500) dispatchEvent(new Event('connected'));
  const page = new DOMParser().parseFromString(text, 'text/html');
  // A captive portal may respond with its own login page and status 200.
  if (ok && page.querySelector('#list, form.write')) return page;
  // The server redirects after a change. So the change was saved, but reading the list failed.
  if (init.method && redirected && status >= 500) return load(response.url, { headers }).catch(noAnswer);
  const reason = page.querySelector('.problem') ?? page.querySelector(ok ? 'h1' : '.error h1');
  const message = reason?.textContent || `This failed (error ${status}). Please try again.`;
  throw new Failure(kinds[status] ?? 'refused', message, {
    mayHaveHappened: redirected || status >= 500,
    page,
  });
}

/** Sets whether a task is finished, whatever it is now. Returns `later` if the server did not answer, or wants a login. */
export async function putState(
  id: string,
  finished: 0 | 1,
): Promise<'saved' | 'later' | { refusal: string }> {
  const response = await fetch(`/tasks/${id}`, {
    method: 'PUT',
    headers: { Accept: 'application/json', 'Content-Type': 'application/json', 'If-Match': '*' },
    body: JSON.stringify({ finished }),
    signal: AbortSignal.timeout(patience),
  }).catch(() => undefined);
  if (response?.ok) return 'saved';
  if (response?.status === 401) dispatchEvent(new Event('loggedout'));
  if (!response || [401, 408, 429].includes(response.status) || response.status >= 500) return 'later';
  const { detail } = await response.json().catch(() => ({}));
  return { refusal: detail ?? `This failed (error ${response.status}).` };
}

/** A random key for a request. `randomUUID` would need HTTPS. */
export const newKey = () => crypto.getRandomValues(new Uint32Array(4)).join('-');

/** The request for a form. Its key lets the server name the tasks that the request has added. */
export function post(data: FormData, key?: string): RequestInit {
  const headers: Record<string, string> = key === undefined ? {} : { 'Idempotency-Key': key };
  return { method: 'POST', body: new URLSearchParams(data as never), headers };
}

/** The ids of the tasks that a request with a key has added, newest first; undefined if the server does not know the key. */
export const addedIn = (page: ParentNode) =>
  page.querySelector<HTMLElement>('#notice')?.dataset.added?.split(' ');
