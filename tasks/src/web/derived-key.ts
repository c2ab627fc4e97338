import { hkdfSync } from 'node:crypto';

/**
 * A key of 32 bytes for one purpose, derived from `key` (RFC 5869), so that what one purpose signs proves nothing for
 * another. It is derived once for each buffer that `key` resolves with.
 */
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
