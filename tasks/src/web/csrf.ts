import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { TasksContext } from './context.ts';
import { cookies } from './cookies.ts';
import { derivedKey } from './derived-key.ts';

/** Token and mask length in bytes. */
const size = 32;

/** Masks that one call of the generator makes, because a call takes as long as rendering a form. */
const masks = 128;

export type Csrf = ReturnType<typeof csrf>;

/**
 * CSRF tokens. A token is the HMAC of the session ID, so the server stores nothing. Each page masks the token with new random
 * bytes. Otherwise, an attacker could guess the token byte by byte from compressed pages (BREACH).
 *
 * @param key the store's key, which all replicas share
 */
export function csrf(key: () => Promise<Buffer>) {
  const secret = derivedKey(key, 'form tokens');
  const jar = cookies(key);
  const newMask = createMasks();
  const token = async (session: string) =>
    createHmac('sha256', await secret())
      .update(session)
      .digest();
  /** Returns the session ID if it is well-formed. Otherwise, a client could get the HMAC of arbitrary text. */
  const currentSession = async (c: TasksContext) => {
    const session = (await jar.read(c, 'session')) ?? '';
    return /^[\w-]{22}$/.test(session) ? session : undefined;
  };
  const newSession = async (c: TasksContext) => {
    const session = randomBytes(16).toString('base64url');
    await jar.set(c, 'session', session);
    return session;
  };
  return {
    /** Issues a token for a form, and starts a session if there is none. */
    async issue(c: TasksContext): Promise<string> {
      const mask = newMask();
      const masked = xor(mask, await token((await currentSession(c)) ?? (await newSession(c))));
      return Buffer.concat([mask, masked]).toString('base64url');
    },
    /** Whether the token belongs to the session. */
    async verify(c: TasksContext, given = ''): Promise<boolean> {
      const session = await currentSession(c);
      const bytes = Buffer.from(given, 'base64url');
      if (!session || bytes.length !== 2 * size) return false;
      const unmasked = xor(bytes.subarray(0, size), bytes.subarray(size));
      return timingSafeEqual(unmasked, await token(session));
    },
  };
}

/** Returns a function that returns new random bytes. */
function createMasks(): () => Buffer {
  let unused: Buffer = Buffer.alloc(0);
  return () => {
    if (unused.length === 0) unused = randomBytes(masks * size);
    const mask = unused.subarray(0, size);
    unused = unused.subarray(size);
    return mask;
  };
}

function xor(a: Buffer, b: Buffer): Buffer {
  return Buffer.from(a.map((byte, i) => byte ^ (b[i] as number)));
}
