import { Cookie, CookieJar, defaultPath, pathMatch } from 'tough-cookie';
import { isOtherDomain, registrableDomain } from './host.ts';

/** Maximum bytes of a cookie's name plus value, as in browsers (RFC 6265bis section 5.6). */
const maxCookieSize = 4_096;

/** Maximum total bytes and maximum number of a chain's `Set-Cookie` headers. */
const maxTotalSize = 32 * 1024;
const maxHeaders = 300;

/** Creates the cookie jar of one chain. */
export function chainCookies() {
  let jar: CookieJar | undefined;
  let size = 0;
  let headers = 0;
  return {
    /**
     * Returns the `Cookie` header for a request to `url`; empty if there are no cookies.
     *
     * @param initiator the page that started the navigation by a refresh; null for the visitor.
     */
    header(url: URL, initiator: URL | null = null): string {
      const isSameSite =
        !initiator || (initiator.protocol === url.protocol && !isOtherDomain(initiator, url));
      return jar?.getCookieStringSync(url.href, isSameSite ? {} : { sameSiteContext: 'lax' }) ?? '';
    },
    /** Removes the cookies of the website of `url`. */
    clear(url: URL) {
      if (!jar) return;
      const all = jar.serializeSync();
      if (!all) return;
      const cookies = all.cookies.filter(
        ({ domain }) => registrableDomain({ hostname: `${domain}` }) !== registrableDomain(url),
      );
      jar = CookieJar.deserializeSync({ ...all, cookies });
    },
    /** Stores the cookies of a response from `url`, like a browser on a top-level navigation. */
    keep(setCookies: readonly string[], url: URL) {
      for (const line of setCookies) {
        size += line.length;
        headers += 1;
        if (size > maxTotalSize || headers > maxHeaders) return;
        const cookie = Cookie.parse(line, { loose: true });
        if (!cookie || !isAcceptable(cookie, url)) continue;
        jar ??= new CookieJar(null, { looseMode: true });
        if (!shadowsSecure(jar, cookie, url)) jar.setCookieSync(cookie, url.href, { ignoreError: true });
      }
    },
  };
}

const sendable = /^[\t -~\u0080-\u00ff]*$/;

/** Matches name prefixes that guarantee `Secure`. The value of a nameless cookie must not match either. */
const prefixed = /^__(?:Secure|Host)-/i;

/** Matches an attribute that requires `Secure` (Cookies Having Independent Partitioned State, section 2.1). */
const partitioned = /^partitioned(?![^=])/i;

/** Checks browser rules that the library does not implement (RFC 6265bis section 5.6). */
function isAcceptable(cookie: Cookie, url: URL): boolean {
  if (cookie.key === '' && prefixed.test(cookie.value)) return false;
  const size = Buffer.byteLength(cookie.key) + Buffer.byteLength(cookie.value);
  if (size > maxCookieSize || !sendable.test(cookie.cookieString())) return false;
  if (cookie.secure) return url.protocol === 'https:';
  return cookie.sameSite !== 'none' && !cookie.extensions?.some((text) => partitioned.test(text));
}

/** Whether `cookie`, set over http, would replace or shadow a `Secure` cookie (RFC 6265bis section 5.7). */
function shadowsSecure(jar: CookieJar, { key, path }: Cookie, { protocol, host, pathname }: URL): boolean {
  if (protocol === 'https:') return false;
  const cookies = jar.getCookiesSync(`https://${host}/`, { allPaths: true });
  const own = path?.startsWith('/') ? path : defaultPath(pathname);
  return cookies.some((other) => other.key === key && other.secure && pathMatch(own, other.path ?? '/'));
}
