import { decode } from '@longhand/shared/percent-encoding.ts';
import { generateCookie } from 'hono/cookie';
import type { CookieOptions } from 'hono/utils/cookie';
import type { TasksContext } from './context.ts';
import { derivedKey } from './derived-key.ts';

/** Maximum cookies to look through. Browsers keep at most 180 per site. */
const maxCookies = 200;

export type Cookies = ReturnType<typeof cookies>;

/**
 * Reads and sets our cookies. Their names end with an ID of the store, such as `login-1f2e3d4c`, because cookies ignore
 * ports: two lists on one host would overwrite each other's cookies.
 *
 * @param key the store's key, which all replicas share
 */
export function cookies(key: () => Promise<Buffer>) {
  const id = derivedKey(key, 'names of cookies');
  const fullName = async (name: string) => `${name}-${(await id()).toString('hex', 0, 4)}`;
  return {
    /** @param name without the prefix and the store's ID */
    async read(c: TasksContext, name: string): Promise<string | undefined> {
      // Most requests of programs have none of our cookies. Reading the key needs the store, which may be down.
      const header = c.req.header('cookie');
      if (!header?.includes(`${name}-`)) return undefined;
      return findCookie(header, `${cookieOptions(c).prefix ? '__Host-' : ''}${await fullName(name)}`);
    },
    /** Sets the cookie on the response, which has at most one. @param maxAge in seconds; by default, until the browser closes */
    async set(c: TasksContext, name: string, value: string, maxAge?: number): Promise<void> {
      const options = { ...cookieOptions(c), ...(maxAge !== undefined && { maxAge }) };
      c.set('cookie', generateCookie(await fullName(name), value, options));
    },
    /** Makes the browser delete the cookie. */
    remove(c: TasksContext, name: string): Promise<void> {
      return this.set(c, name, '', 0);
    },
  };
}

/** Returns a cookie in the `Cookie` header. Hono would throw and catch an error for each malformed byte. */
function findCookie(header: string, name: string): string | undefined {
  const all = header.split(';', maxCookies).map((cookie) => cookie.trim());
  const found = all.find((cookie) => cookie.startsWith(`${name}=`));
  return found && decode(found.slice(name.length + 1));
}

/** Over TLS, the name begins with `__Host-`, so that other hosts and plain HTTP cannot set the cookie (RFC 6265bis 4.1.3.2). */
function cookieOptions(c: TasksContext): CookieOptions & { prefix?: 'host' } {
  const options = { path: '/', httpOnly: true, sameSite: 'Lax' } as const;
  const secure = c.req.header('x-forwarded-proto') === 'https';
  return secure ? { ...options, secure, prefix: 'host' } : options;
}
