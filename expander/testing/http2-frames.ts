/** Frame types and flags (RFC 9113 section 6). */
export const types = {
  data: 0,
  headers: 1,
  reset: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
  /** A type that no standard defines. */
  unknown: 99,
};
export const flags = { endStream: 1, ack: 1, endHeaders: 4 };

export const errors = { internal: 2, refused: 7, cancel: 8, enhanceYourCalm: 11, http11Required: 13 };
export const settings = { maxConcurrentStreams: 3, initialWindowSize: 4 };

/** Bytes before the payload of a frame. */
export const frameHead = 9;
const maxFrame = 16_384;

export type Fields = readonly (readonly [name: string, value: string])[];

/** Serializes a frame. */
export function frame(
  type: keyof typeof types,
  flag: number,
  stream: number,
  payload: Uint8Array = Buffer.alloc(0),
) {
  const head = Buffer.alloc(frameHead);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = types[type];
  head[4] = flag;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const uint32 = (...values: number[]) => {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value, 4 * i);
  return bytes;
};

/** Serializes a head, without Huffman coding or the dynamic table (RFC 7541 section 6.2.2). */
function fieldBlock(fields: Fields): Buffer {
  const text = (value: string) => Buffer.concat([lengthPrefix(value.length), Buffer.from(value, 'latin1')]);
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]));
}

/** Serializes a length with a 7-bit prefix (RFC 7541 section 5.1). */
function lengthPrefix(length: number): Buffer {
  if (length < 127) return Buffer.from([length]);
  const bytes = [127];
  let rest = length - 127;
  for (; rest >= 128; rest >>= 7) bytes.push((rest & 127) | 128);
  return Buffer.from([...bytes, rest]);
}

/** Serializes a head, which may need several frames. `fields` include pseudo-headers, such as `:status`. */
export function head(stream: number, fields: Fields, isEnd = true): Buffer {
  const block = fieldBlock(fields);
  const frames: Buffer[] = [];
  for (let at = 0; at < block.length; at += maxFrame) {
    const isLast = at + maxFrame >= block.length;
    const flag = (isLast ? flags.endHeaders : 0) | (at === 0 && isEnd ? flags.endStream : 0);
    frames.push(
      frame(at === 0 ? 'headers' : 'continuation', flag, stream, block.subarray(at, at + maxFrame)),
    );
  }
  return Buffer.concat(frames);
}

/** Serializes a part of a body, in Latin-1. It may need several frames. */
export function data(stream: number, text: string, isEnd = true): Buffer {
  const body = Buffer.from(text, 'latin1');
  const frames: Buffer[] = [];
  for (let at = 0; at === 0 || at < body.length; at += maxFrame) {
    const isLast = at + maxFrame >= body.length;
    frames.push(
      frame('data', isLast && isEnd ? flags.endStream : 0, stream, body.subarray(at, at + maxFrame)),
    );
  }
  return Buffer.concat(frames);
}

export const reset = (stream: number, code: number): Buffer => frame('reset', 0, stream, uint32(code));

/** Serializes the announcement that the session ends. The server has processed streams up to `lastStream`. */
export const goAway = (code: number, lastStream: number): Buffer =>
  frame('goAway', 0, 0, uint32(lastStream, code));
