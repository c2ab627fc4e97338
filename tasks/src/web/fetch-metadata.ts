import { TaskError } from '../task/errors.ts';

/** The request, as Hono gives it. */
interface Incoming {
  url: string;
  header(name: string): string | undefined;
}

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
  const site = request.header('sec-fetch-site');
  const [origin, referer] = [request.header('origin'), request.header('referer')];
  if (site !== undefined) {
    requireSameSite(site);
  } else if (origin !== undefined || referer !== undefined) {
    requireHost(origin, request.url);
    requireHost(referer, request.url);
  } else if (isBrowser(request)) {
    throw new TaskError(
      'foreign_origin',
      'This browser does not say where the link was followed, so nothing was changed. Follow it in the list.',
    );
  }
}

/** Every browser's `User-Agent` begins like this. */
function isBrowser(request: Incoming): boolean {
  return /^Mozilla\//.test(request.header('user-agent') ?? '');
}

/**
 * Rejects a write from a page of another origin: by `Sec-Fetch-Site` where the browser sends it, else by `Origin`,
 * which every browser sends with a form of another site.
 *
 * @throws TaskError `foreign_origin`
 */
export function requireSameOrigin(request: Incoming): void {
  const site = request.header('sec-fetch-site');
  if (site !== undefined) requireSameSite(site);
  else requireHost(request.header('origin'), request.url);
}

/**
 * The same for a type that other sites may send without asking first (the Fetch standard's CORS-safelisted
 * `text/plain`): a request that does not name its origin is rejected as well.
 *
 * @throws TaskError `foreign_origin`
 */
export function requireKnownOrigin(request: Incoming): void {
  requireSameOrigin(request);
  if (request.header('sec-fetch-site') === undefined && request.header('origin') === undefined) {
    const { host } = new URL(request.url);
    throw new TaskError(
      'foreign_origin',
      `Plain text needs the header Origin: http://${host}; or send application/x-ndjson, which does not.`,
    );
  }
}

function requireSameSite(site: string): void {
  // "none" is the address bar or a bookmark. Any other value is another origin, or one we do not know.
  if (site !== 'same-origin' && site !== 'none') throw foreign();
}

/** @param from an origin or the URL of a page; a request that does not say it passes. */
function requireHost(from: string | undefined, url: string): void {
  if (from === undefined) return;
  if (!URL.canParse(from) || new URL(from).host !== new URL(url).host) throw foreign();
}

function foreign(): TaskError {
  return new TaskError('foreign_origin', 'This came from another site, so nothing was changed.');
}
