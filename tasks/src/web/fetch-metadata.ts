import { Refusal } from '../task/errors.ts';

type Header = (name: string) => string | undefined;

/** The headers in which browsers and their proxies say that nobody asked for this page yet. */
const purposes = ['sec-purpose', 'purpose', 'x-purpose', 'x-sec-purpose', 'x-moz'];

/**
 * Refuses a link that changes something unless somebody followed it on a page of ours, or typed it: not a
 * prefetch, not another site's image or redirect. Browsers leave `Sec-Fetch-Site` out where a host without
 * TLS has a name of its own: there `Origin` and `Referer` say what they know. A browser that sends none of
 * them may have been sent by any page, as ours let it say where it was (`Referrer-Policy`), and an address
 * that was typed looks the same; another client (curl) is taken at its word.
 *
 * @param url what the request is for.
 * @throws Refusal `prefetch` or `foreign_origin`
 */
export function requireDeliberate(header: Header, url: string): void {
  if (purposes.some((name) => /prefetch|prerender|preview/i.test(header(name) ?? ''))) {
    throw new Refusal('prefetch', 'This link changes a task, so it is not followed ahead of time.');
  }
  const site = header('sec-fetch-site');
  const [origin, referer] = [header('origin'), header('referer')];
  if (site !== undefined) {
    requireSameSite(site);
  } else if (origin !== undefined || referer !== undefined) {
    requireHost(origin, url);
    requireHost(referer, url);
  } else if (isBrowser(header)) {
    throw new Refusal(
      'foreign_origin',
      'This browser does not say where the link was followed, so nothing was changed. Follow it in the list.',
    );
  }
}

/** Every browser's `User-Agent` begins so, for the sake of sites that look for it; so do those of programs that pass for one. */
function isBrowser(header: Header): boolean {
  return /^Mozilla\//.test(header('user-agent') ?? '');
}

/**
 * Refuses a write that comes from a page of another origin: by `Sec-Fetch-Site` where the browser sends
 * it, else by `Origin`, which every browser sends with a form from elsewhere.
 *
 * @param url what the request is for.
 * @throws Refusal `foreign_origin`
 */
export function requireSameOrigin(header: Header, url: string): void {
  const site = header('sec-fetch-site');
  if (site !== undefined) requireSameSite(site);
  else requireHost(header('origin'), url);
}

/**
 * The same for a type that a page elsewhere may send without asking first (the Fetch standard's
 * CORS-safelisted `text/plain`): a request that does not say where it comes from is refused as well.
 *
 * @throws Refusal `foreign_origin`
 */
export function requireKnownOrigin(header: Header, url: string): void {
  requireSameOrigin(header, url);
  if (header('sec-fetch-site') === undefined && header('origin') === undefined) {
    throw new Refusal(
      'foreign_origin',
      `Plain text has to say where it comes from: add the header Origin: http://${new URL(url).host}, or send application/x-ndjson.`,
    );
  }
}

function requireSameSite(site: string): void {
  // "none" is the address bar or a bookmark. Any other value is another origin, or one that is not known yet.
  if (site !== 'same-origin' && site !== 'none') throw foreign();
}

/** `from` is an origin or the URL of a page; where it is not said, nothing is held against it. */
function requireHost(from: string | undefined, url: string): void {
  if (from === undefined) return;
  if (!URL.canParse(from) || new URL(from).host !== new URL(url).host) throw foreign();
}

function foreign(): Refusal {
  return new Refusal('foreign_origin', 'This came from another site, so nothing was changed.');
}
