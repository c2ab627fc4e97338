import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';

/** Bytes of a token, and of the mask in front of it. */
const size = 32;

export interface Csrf {
  /** A token for a form on the page that answers `c`; starts a session where there is none. */
  issue(c: Context): Promise<string>;
  /** Whether `token` was issued to the session that `c` belongs to. */
  verify(c: Context, token: string | undefined): Promise<boolean>;
}

/**
 * Tokens against request forgery: one for each session, the HMAC of its id, so that there is nothing to
 * keep. A page gets it under a new random mask each time, which leaves nothing to guess byte by byte from
 * the length of compressed pages (BREACH).
 *
 * @param key the same for all replicas.
 */
export function csrf(key: () => Promise<Buffer>): Csrf {
  const masks = randomMasks();
  const token = async (session: string) =>
    createHmac('sha256', await key())
      .update(session)
      .digest();
  return {
    async issue(c) {
      const mask = masks();
      const session = currentSession(c) ?? newSession(c);
      return Buffer.concat([mask, xor(mask, await token(session))]).toString('base64url');
    },
    async verify(c, masked = '') {
      const session = currentSession(c);
      const bytes = Buffer.from(masked, 'base64url');
      if (!session || bytes.length !== 2 * size) return false;
      return timingSafeEqual(xor(bytes.subarray(0, size), bytes.subarray(size)), await token(session));
    },
  };
}

/** Random bytes for one mask after the other; asking the system for many at once costs as much as for one. */
function randomMasks(): () => Buffer {
  let bytes = Buffer.alloc(0);
  return () => {
    if (bytes.length === 0) bytes = randomBytes(128 * size);
    const mask = bytes.subarray(0, size);
    bytes = bytes.subarray(size);
    return mask;
  };
}

function xor(mask: Buffer, bytes: Buffer): Buffer {
  return bytes.map((byte, i) => byte ^ (mask[i] as number)) as Buffer;
}

/** Over TLS the name begins with `__Host-`: no other host and no plain page can set it (RFC 6265bis 4.1.3.2). */
const secure = (c: Context) => c.req.header('x-forwarded-proto') === 'https';

function currentSession(c: Context): string | undefined {
  const session = getCookie(c, 'session', secure(c) ? 'host' : undefined);
  return session && /^[\w-]{22}$/.test(session) ? session : undefined;
}

function newSession(c: Context): string {
  const session = randomBytes(16).toString('base64url');
  const options = { path: '/', httpOnly: true, sameSite: 'Lax' } as const;
  setCookie(c, 'session', session, secure(c) ? { ...options, secure: true, prefix: 'host' } : options);
  return session;
}
