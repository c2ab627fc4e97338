import { constants, createUnzip } from 'node:zlib';

/** Cut off, the content still counts as far as it goes. */
const options = { finishFlush: constants.Z_SYNC_FLUSH };

/**
 * Undoes the content encoding of servers that compress although they are asked not to, up to `maxSize` bytes. Of other
 * encodings than gzip and deflate, whose decoders need little memory, nothing can be read.
 */
export async function decodeContent(
  body: Buffer,
  encoding: string | undefined,
  maxSize: number,
): Promise<Buffer> {
  const name = encoding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity' || body.length === 0) return body;
  if (!/^(?:x-)?gzip$|^deflate$/.test(name)) return Buffer.alloc(0);
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of createUnzip(options).end(body) as AsyncIterable<Buffer>) {
      pieces.push(piece);
      size += piece.length;
      if (size >= maxSize) break;
    }
  } catch {
    // What came before the damage counts.
  }
  return Buffer.concat(pieces).subarray(0, maxSize);
}
