import { Cookie, CookieJar, defaultPath, pathMatch } from 'tough-cookie';

/** Bytes of a cookie's name and value that browsers accept (RFC 6265bis section 5.6). */
const maxCookieSize = 4_096;

/** The maximum size (bytes) and number of a chain's `Set-Cookie` fields. */
const maxTotalSize = 32 * 1024;
const maxFields = 300;

/** The cookie jar of one chain. */
export function chainCookies() {
  let jar: CookieJar | undefined;
  let [size, fields] = [0, 0];
  return {
    /** The `Cookie` header for a request to `url`; empty without cookies. */
    header: (url: URL) => jar?.getCookieStringSync(url.href) ?? '',
    /** Keeps the cookies of a response for `url`, like a browser on a top-level navigation. */
    keep(setCookies: readonly string[], url: URL) {
      for (const line of setCookies) {
        size += line.length;
        fields += 1;
        if (size > maxTotalSize || fields > maxFields) return;
        const cookie = Cookie.parse(line, { loose: true });
        if (!cookie || !isAcceptable(cookie, url)) continue;
        jar ??= new CookieJar(null, { looseMode: true });
        if (!hidesSecure(jar, cookie, url)) jar.setCookieSync(cookie, url.href, { ignoreError: true });
      }
    },
  };
}

const sendable = /^[\t -~\u0080-\u00ff]*$/;

/** Name prefixes that guarantee `Secure`. Clients send a nameless cookie as its value, so values must not begin with them. */
const prefixed = /^__(?:Secure|Host)-/i;

/** Checks rules of browsers that the library lacks (RFC 6265bis section 5.6). */
function isAcceptable(cookie: Cookie, url: URL): boolean {
  if (cookie.key === '' && prefixed.test(cookie.value)) return false;
  const size = Buffer.byteLength(cookie.key) + Buffer.byteLength(cookie.value);
  if (size > maxCookieSize || !sendable.test(cookie.cookieString())) return false;
  if (cookie.secure) return url.protocol === 'https:';
  return cookie.sameSite !== 'none';
}

/** Whether `cookie`, set over http, would replace or precede a `Secure` cookie (RFC 6265bis section 5.7). */
function hidesSecure(jar: CookieJar, { key, path }: Cookie, { protocol, host, pathname }: URL): boolean {
  if (protocol === 'https:') return false;
  const cookies = jar.getCookiesSync(`https://${host}/`, { allPaths: true });
  const own = path?.startsWith('/') ? path : defaultPath(pathname);
  return cookies.some((other) => other.key === key && other.secure && pathMatch(own, other.path ?? '/'));
}
