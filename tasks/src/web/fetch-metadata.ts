import { TaskError } from '../task/errors.ts';
import type { TasksContext } from './context.ts';

type Incoming = TasksContext['req'];

/** The headers that announce a prefetch. */
const purposes = ['sec-purpose', 'purpose', 'x-purpose', 'x-sec-purpose', 'x-moz'];

/**
 * Rejects a link that changes a task unless the user followed it on our pages or typed it. A prefetch must not change
 * anything, nor may an image or a redirect on another site. Without TLS, browsers omit `Sec-Fetch-Site` for named hosts,
 * so `Origin` and `Referer` decide. Rejects browsers that send none of these (our pages allow `Referer`), but trusts
 * other clients such as curl.
 *
 * @throws TaskError `prefetch` or `foreign_origin`
 */
export function requireDeliberate(request: Incoming): void {
  if (purposes.some((name) => /prefetch|prerender|preview/i.test(request.header(name) ?? ''))) {
    throw new TaskError('prefetch', 'This link changes a task, so it cannot be prefetched.');
  }
  // Every browser's User-Agent begins like this.
  if (!requireSameOrigin(request, 'referer') && /^Mozilla\//.test(request.header('user-agent') ?? '')) {
    throw new TaskError(
      'foreign_origin',
      'This browser does not send the page of the link, so nothing was changed. Follow the link in the list.',
    );
  }
}

/**
 * Rejects `text/plain` unless the request names our origin: other sites can send it without a CORS preflight.
 *
 * @throws TaskError `foreign_origin`
 */
export function requireKnownOrigin(request: Incoming): void {
  if (requireSameOrigin(request)) return;
  const { host } = new URL(request.url);
  throw new TaskError(
    'foreign_origin',
    `Plain text needs the header Origin: http://${host}; or send application/x-ndjson, which does not.`,
  );
}

/**
 * Rejects requests from another origin. `Sec-Fetch-Site` decides. If it is missing, `Origin` and the headers in `names`
 * decide; browsers always send `Origin` with a form on another site.
 *
 * @returns whether the request names its origin
 * @throws TaskError `foreign_origin`
 */
export function requireSameOrigin(request: Incoming, ...names: string[]): boolean {
  const site = request.header('sec-fetch-site');
  const { host } = new URL(request.url);
  const from = ['origin', ...names].map((name) => request.header(name)).filter((url) => url !== undefined);
  // "none" is the address bar or a bookmark.
  const foreign =
    site !== undefined
      ? site !== 'same-origin' && site !== 'none'
      : from.some((url) => URL.parse(url)?.host !== host);
  if (foreign) throw new TaskError('foreign_origin', 'This came from another site, so nothing was changed.');
  return site !== undefined || from.length > 0;
}
