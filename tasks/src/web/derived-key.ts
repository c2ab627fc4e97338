import { hkdfSync } from 'node:crypto';

/** Derives a key of 32 bytes for one purpose (RFC 5869), so that its signatures are worthless for another purpose. */
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
