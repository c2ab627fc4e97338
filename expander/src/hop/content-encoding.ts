import zlib from 'node:zlib';

/** Options that decode truncated bodies. Flushing after each write keeps the output that precedes damaged data. */
const deflate = { flush: zlib.constants.Z_SYNC_FLUSH, finishFlush: zlib.constants.Z_SYNC_FLUSH };
const brotli = { finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH };
/** Accepts windows up to 8 MiB, like Chromium. */
const zstd = {
  finishFlush: zlib.constants.ZSTD_e_flush,
  params: { [zlib.constants.ZSTD_d_windowLogMax]: 23 },
};

/** Bytes per write to the decoder. */
const pieceSize = 4 * 1024;

const maxCodings = 5;

/** The latest `br` or `zstd` decoding. Each decoding takes up to 16 MiB of memory, so only one runs at a time. */
let lastLarge: Promise<unknown> = Promise.resolve();

/**
 * Decodes up to `maxSize` bytes of a body. Some servers compress even if the request asks for `identity`. Like Chromium, it
 * ignores unknown encodings such as `none`, a wrong checksum, and trailing bytes. It accepts `br` and `zstd` only over https.
 *
 * @returns the decoded content, and whether decoding failed.
 */
export async function decodeContent(body: Buffer, encoding = '', isEncrypted: boolean, maxSize: number) {
  const names = encoding
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
  const codings = names.filter((name) => name !== '' && name !== 'identity');
  const known = isEncrypted ? /^(?:(?:x-)?gzip|deflate|br|zstd)$/ : /^(?:(?:x-)?gzip|deflate)$/;
  const isKnown = codings.every((name) => known.test(name));
  if (!isKnown || body.length === 0) return { content: body, isDamaged: false };
  if (codings.length > maxCodings) return { content: Buffer.alloc(0), isDamaged: true };
  let decoded = { content: body, isDamaged: false };
  for (const coding of codings.reverse()) {
    const decode = () => decodePieces(decoded.content, coding, maxSize);
    const isLarge = coding === 'br' || coding === 'zstd';
    const { content, isDamaged } = await (isLarge ? oneAtATime(decode) : decode());
    decoded = { content, isDamaged: decoded.isDamaged || isDamaged };
  }
  return decoded;
}

function oneAtATime<Result>(decode: () => Promise<Result>): Promise<Result> {
  const decoding = lastLarge.then(decode);
  lastLarge = decoding.catch(() => {});
  return decoding;
}

async function decodePieces(body: Buffer, coding: string, maxSize: number) {
  const pieces: Buffer[] = [];
  let size = 0;
  const damage = Promise.withResolvers<boolean>();
  const decoder = decoderOf(coding)
    .on('error', () => damage.resolve(true))
    .on('end', () => damage.resolve(false))
    .on('data', (piece: Buffer) => {
      pieces.push(piece);
      size += piece.length;
      if (size >= maxSize) damage.resolve(false);
    });
  const writeFrom = (at: number) => {
    const piece = body.subarray(at, at + pieceSize);
    if (piece.length === 0) decoder.end();
    else decoder.write(piece, (error) => error || writeFrom(at + pieceSize));
  };
  writeFrom(coding === 'br' || coding === 'zstd' ? 0 : headerLength(body));
  const isDamaged = await damage.promise;
  decoder.destroy();
  return { content: Buffer.concat(pieces).subarray(0, maxSize), isDamaged };
}

function decoderOf(coding: string) {
  if (coding === 'br') return zlib.createBrotliDecompress(brotli);
  return coding === 'zstd' ? zlib.createZstdDecompress(zstd) : zlib.createInflateRaw(deflate);
}

/** Returns the length of the zlib (RFC 1950) or gzip (RFC 1952) header. Some servers omit it. */
function headerLength(body: Buffer): number {
  const [first = 0, second = 0, , flags = 0] = body;
  if (first % 16 === 8 && (first * 256 + second) % 31 === 0) return 2;
  if (first !== 0x1f || second !== 0x8b) return 0;
  let length = 10;
  if (flags & 4) length += 2 + (body[length] ?? 0) + 256 * (body[length + 1] ?? 0);
  for (const text of [8, 16]) if (flags & text) length = body.indexOf(0, length) + 1;
  return flags & 2 ? length + 2 : length;
}
