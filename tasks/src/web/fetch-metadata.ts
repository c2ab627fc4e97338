import { TaskError } from '../task/errors.ts';
import type { TasksContext } from './context.ts';

type Incoming = TasksContext['req'];

/** Headers that announce a prefetch. */
const purposes = ['sec-purpose', 'purpose', 'x-purpose', 'x-sec-purpose', 'x-moz'];

/**
 * Rejects a link that changes a task unless the user followed it on our pages or typed it. Prefetches, and images or
 * redirects on other sites, must not change anything. Without TLS, browsers omit `Sec-Fetch-Site` for named hosts, so
 * `Origin` and `Referer` decide. A browser request without these three headers is rejected. Other clients, such as
 * curl, are trusted.
 *
 * @throws TaskError `prefetch` or `foreign_origin`
 */
export function requireDeliberate(request: Incoming): void {
  if (purposes.some((name) => /prefetch|prerender|preview/i.test(request.header(name) ?? ''))) {
    throw new TaskError('prefetch', 'This link changes a task, so it cannot be prefetched.');
  }
  // Every browser's User-Agent starts with this.
  if (!requireSameOrigin(request, 'referer') && /^Mozilla\//.test(request.header('user-agent') ?? '')) {
    throw new TaskError(
      'foreign_origin',
      'This browser sent no Referer header, so nothing was changed. Use the link in the list.',
    );
  }
}

/**
 * Rejects `text/plain` unless the request names our origin, because other sites can send plain text without a CORS preflight.
 *
 * @throws TaskError `foreign_origin`
 */
export function requireKnownOrigin(request: Incoming): void {
  if (requireSameOrigin(request)) return;
  const { host } = new URL(request.url);
  throw new TaskError(
    'foreign_origin',
    `Plain text needs the header Origin: http://${host}, but application/x-ndjson does not.`,
  );
}

/**
 * Rejects requests from another origin. Checks `Origin` and the headers in `names` if `Sec-Fetch-Site` is missing. Browsers
 * always send `Origin` with a form from another site.
 *
 * @returns whether the request has `Sec-Fetch-Site`, `Origin` or a header in `names`
 * @throws TaskError `foreign_origin`
 */
export function requireSameOrigin(request: Incoming, ...names: string[]): boolean {
  const site = request.header('sec-fetch-site');
  const from = ['origin', ...names].map((name) => request.header(name)).filter((url) => url !== undefined);
  // "none" means the address bar or a bookmark.
  const foreign =
    site !== undefined
      ? site !== 'same-origin' && site !== 'none'
      : from.some((url) => URL.parse(url)?.host !== new URL(request.url).host);
  if (foreign)
    throw new TaskError('foreign_origin', 'This request came from another site, so nothing was changed.');
  return site !== undefined || from.length > 0;
}
