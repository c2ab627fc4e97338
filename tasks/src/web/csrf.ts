import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { generateCookie } from 'hono/cookie';
import type { TasksContext } from './context.ts';

/** Bytes of a token, and of the mask in front of it. */
const size = 32;

/** Sessions whose tokens are remembered: a few hundred bytes each. */
const maxRemembered = 10_000;

export interface Csrf {
  /** A token for a form on the page that answers `c`; starts a session where there is none. */
  issue(c: TasksContext): Promise<string>;
  /** Whether `token` was issued to the session that `c` belongs to. */
  verify(c: TasksContext, token: string | undefined): Promise<boolean>;
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
  const token = remembered(async (session) =>
    createHmac('sha256', await key())
      .update(session)
      .digest(),
  );
  return {
    async issue(c) {
      const bytes = Buffer.allocUnsafe(2 * size);
      masks().copy(bytes);
      mask(bytes, await token(currentSession(c) ?? newSession(c)));
      return bytes.toString('base64url');
    },
    async verify(c, masked = '') {
      const session = currentSession(c);
      const bytes = Buffer.from(masked, 'base64url');
      if (!session || bytes.length !== 2 * size) return false;
      mask(bytes, bytes.subarray(size));
      return timingSafeEqual(bytes.subarray(size), await token(session));
    },
  };
}

/** `make`, with its last results kept: an HMAC costs as much as all else about a token. */
function remembered(make: (session: string) => Promise<Buffer>) {
  const tokens = new Map<string, Buffer>();
  return async (session: string): Promise<Buffer> => {
    const known = tokens.get(session);
    if (known) return known;
    const token = await make(session);
    if (tokens.size >= maxRemembered) tokens.delete(tokens.keys().next().value as string);
    tokens.set(session, token);
    return token;
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

/** Writes `bytes`, masked with the first half of `whole` (or with the mask taken off), into its second half. */
function mask(whole: Buffer, bytes: Buffer): void {
  for (let i = 0; i < size; i += 1) whole[size + i] = (bytes[i] as number) ^ (whole[i] as number);
}

/** Over TLS the name begins with `__Host-`: no other host and no plain page can set it (RFC 6265bis 4.1.3.2). */
const secure = (c: TasksContext) => c.req.header('x-forwarded-proto') === 'https';

const sessionCookie = {
  plain: /(?:^|;)\s*session=([\w-]{22})\s*(?:;|$)/,
  secure: /(?:^|;)\s*__Host-session=([\w-]{22})\s*(?:;|$)/,
};

function currentSession(c: TasksContext): string | undefined {
  return sessionCookie[secure(c) ? 'secure' : 'plain'].exec(c.req.header('cookie') ?? '')?.[1];
}

function newSession(c: TasksContext): string {
  const session = randomBytes(16).toString('base64url');
  const options = { path: '/', httpOnly: true, sameSite: 'Lax' } as const;
  const chosen = secure(c) ? ({ ...options, secure: true, prefix: 'host' } as const) : options;
  c.set('cookie', generateCookie('session', session, chosen));
  return session;
}
