import { TaskError } from '../task/errors.ts';
import type { TasksContext } from './context.ts';

type Incoming = TasksContext['req'];

/** The headers in which browsers and proxies say that they load a page before anybody asked for it. */
const purposes = ['sec-purpose', 'purpose', 'x-purpose', 'x-sec-purpose', 'x-moz'];

/**
 * Rejects a link that changes something unless somebody followed it on one of our pages or typed it: no prefetch, no
 * image or redirect of another site. Browsers leave `Sec-Fetch-Site` out where a host with a name has no TLS; there
 * `Origin` and `Referer` decide. A browser that sends none of them may come from any page (our own pages let it
 * say where it was, by `Referrer-Policy`); another client (curl) is taken at its word.
 *
 * @throws TaskError `prefetch` or `foreign_origin`
 */
export function requireDeliberate(request: Incoming): void {
  if (purposes.some((name) => /prefetch|prerender|preview/i.test(request.header(name) ?? ''))) {
    throw new TaskError('prefetch', 'This link changes a task, so it is not followed ahead of time.');
  }
  // Every browser's `User-Agent` begins like this.
  if (!requireSameOrigin(request, 'referer') && /^Mozilla\//.test(request.header('user-agent') ?? '')) {
    throw new TaskError(
      'foreign_origin',
      'This browser does not say where the link was followed, so nothing was changed. Follow it in the list.',
    );
  }
}

/**
 * Rejects a write of a type that other sites may send without asking first (the Fetch standard's CORS-safelisted
 * `text/plain`) unless it names our origin.
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
 * Rejects what comes from a page of another origin: by `Sec-Fetch-Site` where the browser sends it, else by `Origin`,
 * which every browser sends with a form of another site, and the headers of `names`.
 *
 * @returns whether the request says where it comes from
 * @throws TaskError `foreign_origin`
 */
export function requireSameOrigin(request: Incoming, ...names: string[]): boolean {
  const site = request.header('sec-fetch-site');
  const { host } = new URL(request.url);
  const from = ['origin', ...names].map((name) => request.header(name)).filter((url) => url !== undefined);
  // "none" is the address bar or a bookmark. Any other value is another origin, or one we do not know.
  const foreign =
    site !== undefined
      ? site !== 'same-origin' && site !== 'none'
      : from.some((url) => URL.parse(url)?.host !== host);
  if (foreign) throw new TaskError('foreign_origin', 'This came from another site, so nothing was changed.');
  return site !== undefined || from.length > 0;
}
