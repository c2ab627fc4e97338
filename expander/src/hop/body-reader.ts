import type { IncomingHttpHeaders } from 'node:http';

export type BodyReader = ReturnType<typeof bodyReader>;

/**
 * Reads the body of a response to GET as far as `limit` bytes, by the framing that `headers` state (RFC 9112 section 6).
 * A malformed chunk ends the body.
 */
export function bodyReader(headers: IncomingHttpHeaders, limit: number) {
  const chunked = /(?:^|,)\s*chunked\s*$/i.test(headers['transfer-encoding'] ?? '');
  const decode = chunked ? chunkDecoder() : (text: string) => ({ data: text, ended: false });
  const length = chunked ? limit : Math.min(limit, Number(headers['content-length'] ?? limit) || 0);
  let body = '';
  return {
    /** Takes what has arrived, bytes as Latin-1. @returns whether that was all. */
    read(text: string): boolean {
      const { data, ended } = decode(text);
      body += data.slice(0, length - body.length);
      return ended || body.length === length;
    },
    /** What has come so far. */
    body: () => Buffer.from(body, 'latin1'),
  };
}

/** The line before each chunk, after the end of the one before. */
const chunkStart = /^(?:\r?\n)?([\da-f]{1,8})[\t ]*(?:;[^\n]*)?\r?\n/i;
/** Characters of such a line with its extensions. */
const maxStart = 4_096;

/** Decodes the chunked transfer coding (RFC 9112 section 7.1) piece by piece. */
function chunkDecoder() {
  /** Not decoded yet. */
  let rest = '';
  /** Bytes that the current chunk still lacks. */
  let missing = 0;
  return (text: string): { data: string; ended: boolean } => {
    rest += text;
    let data = '';
    for (;;) {
      const part = rest.slice(0, missing);
      data += part;
      missing -= part.length;
      rest = rest.slice(part.length);
      if (missing > 0) return { data, ended: false };
      const [line, size] = chunkStart.exec(rest) ?? [];
      if (!line) return { data, ended: rest.length > maxStart || /[^\r\n][^\n]*\n/.test(rest) };
      missing = Number.parseInt(size as string, 16);
      if (missing === 0) return { data, ended: true };
      rest = rest.slice(line.length);
    }
  };
}
