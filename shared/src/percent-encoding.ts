/** Decodes percent-encoded UTF-8. Keeps stray percent signs, and each run of encoded bytes that is not UTF-8. */
export const decode = (text: string): string => decodeRuns(text).decoded;

/** Whether all percent-encoded bytes in a text are UTF-8. */
export const isEncodedUtf8 = (text: string): boolean => decodeRuns(text).isUtf8;

interface Decoded {
  decoded: string;
  isUtf8: boolean;
}

/** A percent sign without two hexadecimal digits. */
const strayPercent = /%(?![\da-f]{2})/i;

function decodeRuns(text: string): Decoded {
  if (!text.includes('%')) return { decoded: text, isUtf8: true };
  if (!strayPercent.test(text)) {
    try {
      return { decoded: decodeURIComponent(text), isUtf8: true };
    } catch {
      // A run is not UTF-8.
    }
  }
  return decodeBytes(Buffer.from(text));
}

/** Decodes and checks each byte here, because a call of Node's functions for each run would take 10 ms for 64 KiB of `%ff%`. */
function decodeBytes(text: Buffer): Decoded {
  const decoded = Buffer.allocUnsafe(text.length);
  let length = 0;
  let isUtf8 = true;
  for (let start = 0, end = 0; start < text.length; start = end) {
    const size = decodeRun(text, start, decoded, length);
    end = start + Math.max(1, 3 * size);
    if (size > 0 && isRunUtf8(decoded, length, length + size)) {
      length += size;
      continue;
    }
    if (size > 0) isUtf8 = false;
    for (let at = start; at < end; at += 1, length += 1) decoded[length] = text[at] as number;
  }
  return { decoded: decoded.toString('utf8', 0, length), isUtf8 };
}

/** Decodes the run that begins at `start`, and writes it to `decoded` at `at`. Returns its number of bytes, which may be 0. */
function decodeRun(text: Buffer, start: number, decoded: Buffer, at: number): number {
  for (let size = 0; ; size += 1) {
    const byte = encodedByte(text, start + 3 * size);
    if (byte < 0) return size;
    decoded[at + size] = byte;
  }
}

const percentSign = 0x25;

/** The value of each ASCII character as a hexadecimal digit, or -1. */
const digits = Int8Array.from({ length: 256 }, (_, code) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(code).toLowerCase()),
);

/** Returns the byte that is percent-encoded at `at`, or -1. */
function encodedByte(text: Buffer, at: number): number {
  if (text[at] !== percentSign) return -1;
  const high = digits[text[at + 1] ?? 0] as number;
  const low = digits[text[at + 2] ?? 0] as number;
  return high < 0 || low < 0 ? -1 : 16 * high + low;
}

/** Whether the bytes from `start` to `end` are UTF-8 (RFC 3629, section 4). */
function isRunUtf8(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; ) {
    const size = characterSize(bytes[at] as number, bytes[at + 1]);
    if (size === 0 || at + size > end) return false;
    for (let i = 2; i < size; i += 1) if (!isIn(0x80, 0xbf, bytes[at + i])) return false;
    at += size;
  }
  return true;
}

const isIn = (least: number, most: number, byte = 0) => byte >= least && byte <= most;

/** Returns the number of bytes of a character by its first two bytes, or 0 if no character begins with them. */
function characterSize(first: number, second: number | undefined): number {
  if (first < 0x80) return 1;
  if (first < 0xc2) return 0;
  if (first < 0xe0) return isIn(0x80, 0xbf, second) ? 2 : 0;
  // The second byte excludes longer forms than necessary, surrogates, and what is above U+10FFFF.
  if (first < 0xf0) return isIn(first === 0xe0 ? 0xa0 : 0x80, first === 0xed ? 0x9f : 0xbf, second) ? 3 : 0;
  if (first < 0xf5) return isIn(first === 0xf0 ? 0x90 : 0x80, first === 0xf4 ? 0x8f : 0xbf, second) ? 4 : 0;
  return 0;
}
