import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { annotate } from '@longhand/shared/observe.ts';
import type { TasksContext } from './context.ts';
import { cookies } from './cookies.ts';
import { derivedKey } from './derived-key.ts';

/** Seconds until a session ends. */
const lifetime = 90 * 24 * 60 * 60;

export type Auth = ReturnType<typeof auth>;

/**
 * A session is a signed cookie with an expiry time, so the server stores nothing. The signing key is derived from the store's
 * key and the password, so sessions survive restarts and work on all replicas, and a new password ends all sessions. A key
 * derived from the password alone would allow offline guessing with a stolen cookie.
 *
 * @param key the store's key, which all replicas share
 * @param tokens access tokens for programs, with names for the log
 */
export function auth(
  password: string,
  key: () => Promise<Buffer>,
  tokens: readonly { name: string; token: string }[] = [],
  now: () => Date = () => new Date(),
) {
  // Constant-time comparison needs equal lengths.
  const passwordDigest = digest(password);
  const known = tokens.map(({ name, token }) => ({ name, digest: digest(token) }));
  const purpose = `sessions of the password with the digest ${passwordDigest.toString('hex')}`;
  const secret = derivedKey(key, purpose);
  const jar = cookies(key);
  const seconds = () => now().getTime() / 1_000;
  const signatureOf = async (end: string) =>
    createHmac('sha256', await secret())
      .update(end)
      .digest('base64url');

  return {
    isPassword: (given: string): boolean => timingSafeEqual(digest(given), passwordDigest),
    /** Whether the request has a session cookie or a token. */
    async admits(c: TasksContext): Promise<boolean> {
      const [, token] = /^Bearer +(\S+) *$/i.exec(c.req.header('authorization') ?? '') ?? [];
      const given = token === undefined ? undefined : digest(token);
      const found = given && known.find((one) => timingSafeEqual(one.digest, given));
      if (found) annotate(c, { user: found.name });
      return found !== undefined || (await hasSession(c));
    },
    /** Sets the session cookie on the response. */
    async logIn(c: TasksContext): Promise<void> {
      const end = `${Math.floor(seconds() + lifetime)}`;
      await jar.set(c, 'login', `${end}.${await signatureOf(end)}`, lifetime);
    },
    logOut: (c: TasksContext): Promise<void> => jar.remove(c, 'login'),
  };

  async function hasSession(c: TasksContext): Promise<boolean> {
    const login = await jar.read(c, 'login');
    if (login === undefined) return false;
    const [end = '', signature = ''] = login.split('.', 2);
    return timingSafeEqual(digest(signature), digest(await signatureOf(end))) && Number(end) > seconds();
  }
}

const digest = (text: string) => hash('sha256', text, 'buffer');

/** Returns `path` if it is one of our pages, else `/`. Rejects other sites, and links that change a task. */
export function pageAfterLogin(path: string | undefined): string {
  return path && /^\/(tasks(\/\w+)*)?(\?[\w!$&'()*+,./:;=?@%~-]*)?$/.test(path) ? path : '/';
}
