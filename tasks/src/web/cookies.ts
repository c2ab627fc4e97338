import { decode } from '@longhand/shared/parameters.ts';
import type { CookieOptions } from 'hono/utils/cookie';
import type { TasksContext } from './context.ts';

/** Max cookies to look through. Browsers keep at most 180 per site. */
const maxCookies = 200;

/**
 * Returns the value of our cookie. Hono would throw and catch an error for each malformed byte.
 *
 * @param name the name without the prefix
 */
export function readCookie(c: TasksContext, name: string): string | undefined {
  const start = `${cookieOptions(c).prefix ? '__Host-' : ''}${name}=`;
  const header = c.req.header('cookie');
  // Most requests of programs have none of our cookies.
  if (!header?.includes(start)) return undefined;
  const cookies = header.split(';', maxCookies).map((cookie) => cookie.trim());
  const found = cookies.find((cookie) => cookie.startsWith(start));
  return found && decode(found.slice(start.length));
}

/** Over TLS, the name begins with `__Host-`, so that other hosts and plain HTTP cannot set the cookie (RFC 6265bis 4.1.3.2). */
export function cookieOptions(c: TasksContext): CookieOptions & { prefix?: 'host' } {
  const options = { path: '/', httpOnly: true, sameSite: 'Lax' } as const;
  const secure = c.req.header('x-forwarded-proto') === 'https';
  return secure ? { ...options, secure, prefix: 'host' } : options;
}
