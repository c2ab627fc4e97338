import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { generateCookie } from 'hono/cookie';
import type { TasksContext } from './context.ts';
import { cookieOptions, readCookie } from './cookies.ts';

/** Token and mask length in bytes. */
const size = 32;

export type Csrf = ReturnType<typeof csrf>;

/**
 * CSRF tokens. A token is the HMAC of the session id, so the server stores nothing. Each page masks the token with new random
 * bytes. Otherwise, an attacker could guess the token byte by byte from compressed pages (BREACH).
 *
 * @param key the store's key, which all replicas share
 */
export function csrf(key: () => Promise<Buffer>) {
  const secret = derivedKey(key, 'form tokens');
  const token = async (session: string) =>
    createHmac('sha256', await secret())
      .update(session)
      .digest();
  return {
    /** Issues a token for a form, and starts a session if there is none. */
    async issue(c: TasksContext): Promise<string> {
      const mask = randomBytes(size);
      const masked = xor(mask, await token(currentSession(c) ?? newSession(c)));
      return Buffer.concat([mask, masked]).toString('base64url');
    },
    /** Whether the token belongs to the session. */
    async verify(c: TasksContext, given = ''): Promise<boolean> {
      const session = currentSession(c);
      const bytes = Buffer.from(given, 'base64url');
      if (!session || bytes.length !== 2 * size) return false;
      const unmasked = xor(bytes.subarray(0, size), bytes.subarray(size));
      return timingSafeEqual(unmasked, await token(session));
    },
  };
}

/** Derives a 32-byte key for one purpose (RFC 5869). Signatures with this key are invalid for other purposes. */
export function derivedKey(key: () => Promise<Buffer>, purpose: string): () => Promise<Buffer> {
  let from: Buffer | undefined;
  let derived: Buffer;
  return async () => {
    const current = await key();
    if (current !== from) derived = Buffer.from(hkdfSync('sha256', current, '', purpose, 32));
    from = current;
    return derived;
  };
}

function xor(a: Buffer, b: Buffer): Buffer {
  return Buffer.from(a.map((byte, i) => byte ^ (b[i] as number)));
}

/** Returns the session ID if it is well-formed. Otherwise, a client could get the HMAC of arbitrary text. */
function currentSession(c: TasksContext): string | undefined {
  const session = readCookie(c, 'session') ?? '';
  return /^[\w-]{22}$/.test(session) ? session : undefined;
}

function newSession(c: TasksContext): string {
  const session = randomBytes(16).toString('base64url');
  c.set('cookie', generateCookie('session', session, cookieOptions(c)));
  return session;
}
