import type { IncomingHttpHeaders } from 'node:http';

export type BodyReader = ReturnType<typeof bodyReader>;

/**
 * Creates a reader for up to `limit` bytes of a body. `headers` determine where the body ends (RFC 9112 section 6). The reader
 * stops at a malformed chunk.
 */
export function bodyReader(headers: IncomingHttpHeaders, limit: number) {
  const chunked = /(?:^|,)\s*chunked\s*(?:,|$)/i.test(headers['transfer-encoding'] ?? '');
  const decode = chunked ? chunkDecoder() : (text: string) => ({ data: text, ended: false, damaged: false });
  // Browsers ignore a length that is not a number.
  const stated = chunked ? undefined : /^\d+$/.exec(headers['content-length'] ?? '')?.[0];
  const length = Math.min(limit, Number(stated ?? limit));
  let body = '';
  let isDamaged = false;
  return {
    /** Whether the body ends when the server closes the connection. */
    endsWithConnection: !chunked && stated === undefined,
    /** Appends received bytes as Latin-1 text. @returns whether the body is complete. */
    read(text: string): boolean {
      const { data, ended, damaged } = decode(text);
      body += data.slice(0, length - body.length);
      isDamaged = damaged && body.length < length;
      return ended || body.length === length;
    },
    isDamaged: () => isDamaged,
    body: () => Buffer.from(body, 'latin1'),
  };
}

/** Matches a chunk header: the chunk size and optional extensions. */
const chunkStart = /^(0*[\da-f]{1,16})[\t ]*(?:;.*)?\r?\n$/i;
const maxStart = 4_096;

/** Creates an incremental decoder for the chunked transfer coding (RFC 9112 section 7.1). */
function chunkDecoder() {
  /** Incomplete last line of the received input. */
  let line = '';
  /** Bytes left to read in the current chunk. */
  let missing = 0;
  /** Whether the next line may be the empty line after a chunk. */
  let mayEnd = true;
  return (text: string) => {
    let data = '';
    for (let at = 0; at < text.length; ) {
      const part = text.slice(at, at + missing);
      data += part;
      missing -= part.length;
      at += part.length;
      if (at === text.length) break;
      const end = text.indexOf('\n', at) + 1 || text.length;
      line += text.slice(at, end);
      at = end;
      if (line.length > maxStart) return { data, ended: true, damaged: true };
      if (text[end - 1] !== '\n') break;
      const isEmpty = line === '\r\n' || line === '\n';
      if (!mayEnd || !isEmpty) {
        const [, size] = chunkStart.exec(line) ?? [];
        missing = Number.parseInt(size ?? '0', 16);
        if (missing === 0) return { data, ended: true, damaged: size === undefined };
      }
      mayEnd = !isEmpty;
      line = '';
    }
    return { data, ended: false, damaged: false };
  };
}
