import { Refusal } from './refusal.ts';

type Header = (name: string) => string | undefined;

/** The headers in which browsers and their proxies say that nobody asked for this page yet. */
const purposes = ['sec-purpose', 'purpose', 'x-purpose', 'x-sec-purpose', 'x-moz'];

/**
 * Refuses a link that changes something unless somebody followed it on a page of ours, or typed it: not a
 * prefetch, not another site's image or redirect. A client that sends no fetch metadata (curl, an old
 * browser) is taken at its word.
 *
 * @throws Refusal `prefetch` or `foreign_origin`
 */
export function requireDeliberate(header: Header): void {
  if (purposes.some((name) => /prefetch|prerender|preview/i.test(header(name) ?? ''))) {
    throw new Refusal('prefetch', 'This link changes a task, so it is not followed ahead of time.');
  }
  requireSameSite(header('sec-fetch-site'));
}

/**
 * Refuses a write that comes from a page of another origin: by `Sec-Fetch-Site` where the browser sends
 * it, else by `Origin`, which every browser sends with a form from elsewhere.
 *
 * @param host the host and port that the request is for.
 * @throws Refusal `foreign_origin`
 */
export function requireSameOrigin(header: Header, host: string): void {
  const site = header('sec-fetch-site');
  const origin = header('origin');
  if (site !== undefined) requireSameSite(site);
  else if (origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== host)) throw foreign();
}

function requireSameSite(site: string | undefined): void {
  // "none" is the address bar or a bookmark. Any other value is another origin, or one that is not known yet.
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw foreign();
}

function foreign(): Refusal {
  return new Refusal('foreign_origin', 'This came from another site, so nothing was changed.');
}
