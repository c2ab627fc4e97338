import { hkdfSync } from 'node:crypto';

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
