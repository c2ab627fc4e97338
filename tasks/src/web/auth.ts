import { hash, timingSafeEqual } from 'node:crypto';
import { annotate } from '@longhand/shared/observe.ts';
import { generateCookie, generateSignedCookie, getSignedCookie } from 'hono/cookie';
import type { TasksContext } from './context.ts';
import { cookieOptions } from './csrf.ts';
import { derivedKey } from './derived-key.ts';

/** Seconds after which a browser has to log in again. */
const lifetime = 90 * 24 * 60 * 60;

/** Admits only those who know the password. */
export type Auth = ReturnType<typeof auth>;

/**
 * A session is a signed cookie that says when it ends, so nothing has to be stored. What signs it comes from the key in
 * the store and from the password: it outlives restarts, all replicas share it, and a new password ends all sessions.
 * Without the key, a stolen cookie would be enough to guess the password offline.
 *
 * @param key the same for all replicas.
 * @param tokens of programs, each with the name that the log shows.
 */
export function auth(
  password: string,
  key: () => Promise<Buffer>,
  tokens: readonly { name: string; token: string }[] = [],
  now: () => Date = () => new Date(),
) {
  // Digests have one length, which a comparison in constant time needs.
  const passwordDigest = digest(password);
  const known = tokens.map(({ name, token }) => ({ name, digest: digest(token) }));
  const purpose = `sessions of the password with the digest ${passwordDigest.toString('hex')}`;
  const secret = derivedKey(key, purpose);
  const seconds = () => now().getTime() / 1_000;

  return {
    isPassword: (given: string): boolean => timingSafeEqual(digest(given), passwordDigest),
    /** Whether the request has the cookie of a session, or a token. */
    async admits(c: TasksContext): Promise<boolean> {
      const [, token] = /^Bearer +(\S+) *$/i.exec(c.req.header('authorization') ?? '') ?? [];
      const given = token === undefined ? undefined : digest(token);
      const found = given && known.find((one) => timingSafeEqual(one.digest, given));
      if (found) annotate(c, { user: found.name });
      return found !== undefined || (await hasSession(c));
    },
    /** Makes the response to `c` begin a session. */
    async logIn(c: TasksContext): Promise<void> {
      const end = `${Math.floor(seconds() + lifetime)}`;
      const options = { ...cookieOptions(c), maxAge: lifetime };
      c.set('cookie', await generateSignedCookie('login', end, await secret(), options));
    },
    /** Makes the response to `c` end the session of this browser. */
    logOut(c: TasksContext): void {
      c.set('cookie', generateCookie('login', '', { ...cookieOptions(c), maxAge: 0 }));
    },
  };

  async function hasSession(c: TasksContext): Promise<boolean> {
    // Without a cookie there is no need for the key: the store may be away.
    if (!c.req.header('cookie')?.includes('login=')) return false;
    const end = await getSignedCookie(c, await secret(), 'login', cookieOptions(c).prefix);
    return Number(end) > seconds();
  }
}

const digest = (text: string) => hash('sha256', text, 'buffer');

/** A page of ours that may be shown after the login: no other site, and no link that changes a task. */
export function pageAfterLogin(path: string | undefined): string {
  return path && /^\/(tasks(\/\w+)*)?(\?[\w!$&'()*+,./:;=?@%~-]*)?$/.test(path) ? path : '/';
}
