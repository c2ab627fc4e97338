import type { IncomingHttpHeaders } from 'node:http';

export type BodyReader = ReturnType<typeof bodyReader>;

/**
 * Reads the body of a response to GET as far as `limit` bytes, by the framing that `headers` state (RFC 9112 section 6).
 * A malformed chunk ends the body.
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
    /** Whether the end of the connection is that of the body. */
    lastsToTheEnd: !chunked && stated === undefined,
    /** Takes the bytes that have arrived, as Latin-1. @returns whether the body is complete. */
    read(text: string): boolean {
      const { data, ended, damaged } = decode(text);
      body += data.slice(0, length - body.length);
      isDamaged = damaged && body.length < length;
      return ended || body.length === length;
    },
    isDamaged: () => isDamaged,
    /** The bytes so far. */
    body: () => Buffer.from(body, 'latin1'),
  };
}

/** The line before each chunk: its size and extensions. */
const chunkStart = /^(0*[\da-f]{1,16})[\t ]*(?:;.*)?\r?\n$/i;
/** Characters of such a line. */
const maxStart = 4_096;

/** Decodes the chunked transfer coding (RFC 9112 section 7.1) piece by piece. It looks at each byte once. */
function chunkDecoder() {
  /** The part of the current line that has arrived. */
  let line = '';
  /** Bytes that the current chunk still lacks. */
  let missing = 0;
  /** Whether the end of a chunk, an empty line, may come before the next line. */
  let mayEnd = true;
  return (text: string) => {
    let data = '';
    for (let at = 0; at < text.length; ) {
      const part = text.slice(at, at + missing);
      data += part;
      missing -= part.length;
      at += part.length;
      if (missing > 0) break;
      const end = text.indexOf('\n', at) + 1 || text.length;
      line += text.slice(at, end);
      at = end;
      if (line.length > maxStart) return { data, ended: true, damaged: true };
      if (text[end - 1] !== '\n') break;
      if (!mayEnd || !isEmpty(line)) {
        const [, size] = chunkStart.exec(line) ?? [];
        missing = Number.parseInt(size ?? '0', 16);
        if (missing === 0) return { data, ended: true, damaged: size === undefined };
      }
      mayEnd = !isEmpty(line);
      line = '';
    }
    return { data, ended: false, damaged: false };
  };
}

function isEmpty(line: string): boolean {
  return line === '\r\n' || line === '\n';
}
