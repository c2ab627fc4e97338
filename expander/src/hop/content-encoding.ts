import { constants, createInflateRaw, createUnzip } from 'node:zlib';

/** Cut off, the content still counts as far as it goes. */
const options = { finishFlush: constants.Z_SYNC_FLUSH };

/** Codings of one body: nobody needs more. */
const maxCodings = 3;

/**
 * Decodes up to `maxSize` bytes from servers that compress although they are asked not to. The decoders of gzip and deflate
 * need little memory; `br` and `zstd` are not read. As in browsers, an unknown encoding such as `none` is ignored.
 */
export async function decodeContent(body: Buffer, encoding = '', maxSize: number): Promise<Buffer> {
  const codings = encoding
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
  const known = codings.filter((name) => name !== '' && name !== 'identity');
  if (!known.every((name) => /^(?:(?:x-)?gzip|deflate|br|zstd)$/.test(name))) return body;
  if (known.length > maxCodings || known.some((name) => name === 'br' || name === 'zstd'))
    return Buffer.alloc(0);
  let content = body;
  for (const _ of known) content = await inflated(content, maxSize);
  return content;
}

async function inflated(body: Buffer, maxSize: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    const decoder = isRawDeflate(body) ? createInflateRaw(options) : createUnzip(options);
    for await (const piece of decoder.end(body) as AsyncIterable<Buffer>) {
      pieces.push(piece);
      size += piece.length;
      if (size >= maxSize) break;
    }
  } catch {
    // What came before the damage counts.
  }
  return Buffer.concat(pieces).subarray(0, maxSize);
}

/** Whether it has no header of gzip (RFC 1952) or zlib (RFC 1950): some servers omit it from deflate. */
function isRawDeflate(body: Buffer): boolean {
  const [first = 0, second = 0] = body;
  const isZlib = first % 16 === 8 && (first * 256 + second) % 31 === 0;
  return !isZlib && !(first === 0x1f && second === 0x8b);
}
