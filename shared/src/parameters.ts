import { isUtf8 } from 'node:buffer';

/** Maximum parameters to read of a query or a form. Our longest form has ten. */
const maxParameters = 64;

/** Maximum characters of a name, more than any of ours has, even percent-encoded. Decoding longer names would be in vain. */
const maxName = 100;

interface Parameter {
  name: string;
  encoded: string;
  decoded?: string;
}

export interface Parameters {
  /** Returns the first value of a parameter. */
  get(name: string): string | undefined;
  /** Returns all values of a parameter. */
  all(name: string): string[];
}

/**
 * Reads the first 64 parameters of a query or a form (`application/x-www-form-urlencoded`, WHATWG URL standard), and decodes only
 * the requested values. Keeps stray percent signs and bytes that are not UTF-8 as they are, so that a pasted URL stays intact.
 */
export function readParameters(text: string): Parameters {
  const found: Parameter[] = [];
  for (let start = 0, read = 0; start < text.length && read < maxParameters; read += 1) {
    let end = text.indexOf('&', start);
    if (end < 0) end = text.length;
    const parameter = text.slice(start, end);
    const equals = parameter.indexOf('=');
    const name = equals < 0 ? parameter : parameter.slice(0, equals);
    const encoded = equals < 0 ? '' : parameter.slice(equals + 1);
    if (name !== '' && name.length <= maxName) found.push({ name: decodeParameter(name), encoded });
    start = end + 1;
  }
  return {
    get(name) {
      const first = found.find((parameter) => parameter.name === name);
      return first && decodedValue(first);
    },
    all: (name) => found.filter((parameter) => parameter.name === name).map(decodedValue),
  };
}

/** Returns the decoded value. A handler may read a parameter several times. */
function decodedValue(parameter: Parameter): string {
  parameter.decoded ??= decodeParameter(parameter.encoded);
  return parameter.decoded;
}

/** Reads the parameters of a URL's query. */
export function readQuery(url: string): Parameters {
  const start = url.indexOf('?');
  const end = url.indexOf('#');
  if (start < 0 || (end >= 0 && end < start)) return readParameters('');
  return readParameters(url.slice(start + 1, end < 0 ? undefined : end));
}

const decodeParameter = (text: string) => decode(text.includes('+') ? text.replaceAll('+', ' ') : text);

/** Decodes percent-encoded UTF-8. Keeps stray percent signs, and each run of encoded bytes that is not UTF-8. */
export function decode(text: string): string {
  return decodeUtf8(text) ?? text.replace(/(?:%[\da-f]{2})+/gi, decodeRun);
}

function decodeRun(run: string): string {
  const bytes = Buffer.from(run.replaceAll('%', ''), 'hex');
  return isUtf8(bytes) ? bytes.toString() : run;
}

/** Whether all percent-encoded bytes in a text are UTF-8. */
export const isEncodedUtf8 = (text: string) => decodeUtf8(text) !== undefined;

/** A percent sign without two hexadecimal digits. */
const strayPercent = /%(?![\da-f]{2})/i;

/** Decodes a text, but keeps stray percent signs. Returns nothing if encoded bytes are not UTF-8. */
function decodeUtf8(text: string): string | undefined {
  if (!text.includes('%')) return text;
  if (strayPercent.test(text)) {
    const bytes = decodeBytes(Buffer.from(text));
    return isUtf8(bytes) ? bytes.toString() : undefined;
  }
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Decodes percent-encoded bytes in place. Escaping 64 KiB of stray percent signs for `decodeURIComponent` would take 1 ms. */
function decodeBytes(bytes: Buffer): Buffer {
  let length = 0;
  for (let i = 0; i < bytes.length; i += 1, length += 1) {
    const encoded =
      bytes[i] === percentSign ? 16 * digitOf(bytes[i + 1]) + digitOf(bytes[i + 2]) : Number.NaN;
    if (Number.isNaN(encoded)) bytes[length] = bytes[i] as number;
    else {
      bytes[length] = encoded;
      i += 2;
    }
  }
  return bytes.subarray(0, length);
}

const percentSign = 0x25;

/** Returns the value of a hexadecimal digit in ASCII, or NaN. */
function digitOf(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN;
}
