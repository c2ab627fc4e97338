import { Cookie, CookieJar, defaultPath, MemoryCookieStore, pathMatch } from 'tough-cookie';

/** Bytes of a cookie's name and value that browsers accept (RFC 6265bis section 5.6). */
const maxCookieSize = 4_096;

/** Bytes of all cookies of a chain, and how many there may be. */
const maxTotalSize = 16 * 1024;
const maxCookies = 150;

/** A jar for one chain, empty at its start. What is beyond 16 KiB or 150 cookies is not kept. */
export function chainCookies() {
  let jar: CookieJar | undefined;
  const store = new MemoryCookieStore();
  const sizes = new Map<string, number>();
  let size = 0;
  return {
    /** The `Cookie` header for a request to `url`; empty if there is none. */
    header: (url: URL) => jar?.getCookieStringSync(url.href) ?? '',
    /** Keeps what a response to a request for `url` sets, as a browser does on a top-level navigation. */
    keep(setCookies: readonly string[], url: URL) {
      for (const line of setCookies) {
        const cookie = Cookie.parse(line, { loose: true });
        if (!cookie || !isAcceptable(cookie, url)) continue;
        jar ??= new CookieJar(store, { looseMode: true });
        if (hidesSecure(jar, cookie, url)) continue;
        const kept = jar.setCookieSync(cookie, url.href, { ignoreError: true });
        if (!kept?.domain || !kept.path) continue;
        const { domain, path, key } = kept;
        const id = `${domain} ${path} ${key}`;
        size += sizeOf(kept) - (sizes.get(id) ?? 0);
        sizes.set(id, sizeOf(kept));
        if (kept.TTL() > 0 && size <= maxTotalSize && sizes.size <= maxCookies) continue;
        size -= sizeOf(kept);
        sizes.delete(id);
        store.removeCookie(domain, path, key, () => {});
      }
    },
  };
}

/** What may be in a header: no control but the tab. */
const sendable = /^[\t -~\u0080-\u00ff]*$/;

/** A value that a server would read as a cookie that was set with `Secure`, if it came without a name. */
const prefixed = /^__(?:Secure|Host)-/i;

/** Browsers refuse more than the library does (RFC 6265bis section 5.6). */
function isAcceptable(cookie: Cookie, url: URL): boolean {
  if (cookie.key === '' && prefixed.test(cookie.value)) return false;
  if (sizeOf(cookie) > maxCookieSize || !sendable.test(cookie.cookieString())) return false;
  if (cookie.secure) return url.protocol === 'https:';
  return cookie.sameSite !== 'none';
}

/** Whether `cookie` of http would replace, or come before, one that was set with `Secure` (RFC 6265bis section 5.7). */
function hidesSecure(jar: CookieJar, { key, path }: Cookie, { protocol, host, pathname }: URL): boolean {
  if (protocol === 'https:') return false;
  const cookies = jar.getCookiesSync(`https://${host}/`, { allPaths: true });
  const own = path?.startsWith('/') ? path : defaultPath(pathname);
  return cookies.some((other) => other.key === key && other.secure && pathMatch(own, other.path ?? '/'));
}

function sizeOf({ key, value }: Cookie): number {
  return Buffer.byteLength(key) + Buffer.byteLength(value);
}
