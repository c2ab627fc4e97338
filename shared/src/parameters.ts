import { isUtf8 } from 'node:buffer';

/** Max parameters to read of a query or a form. Our longest form has ten. */
const maxParameters = 64;

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
  const found: { name: string; value: string }[] = [];
  for (let start = 0, read = 0; start < text.length && read < maxParameters; read += 1) {
    let end = text.indexOf('&', start);
    if (end < 0) end = text.length;
    const parameter = text.slice(start, end);
    const equals = parameter.indexOf('=');
    const name = equals < 0 ? parameter : parameter.slice(0, equals);
    const value = equals < 0 ? '' : parameter.slice(equals + 1);
    if (name !== '') found.push({ name: decodeParameter(name), value });
    start = end + 1;
  }
  return {
    get(name) {
      const first = found.find((parameter) => parameter.name === name);
      return first && decodeParameter(first.value);
    },
    all: (name) => found.filter((one) => one.name === name).map(({ value }) => decodeParameter(value)),
  };
}

/** Reads the parameters of a URL's query. */
export function readQuery(url: string): Parameters {
  const start = url.indexOf('?');
  const end = url.indexOf('#');
  if (start < 0 || (end >= 0 && end < start)) return readParameters('');
  return readParameters(url.slice(start + 1, end < 0 ? undefined : end));
}

const decodeParameter = (text: string) => decode(text.includes('+') ? text.replaceAll('+', ' ') : text);

/** A percent sign without two hexadecimal digits. */
const strayPercent = /%(?![\da-f]{2})/gi;

/**
 * Decodes percent-encoded UTF-8. Keeps stray percent signs, and each run of encoded bytes that is not UTF-8. Throws and catches
 * at most one error, because an error takes longer than the rest.
 */
export function decode(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text.replace(strayPercent, '%25'));
  } catch {
    return text.replace(/(?:%[\da-f]{2})+/gi, decodeRun);
  }
}

function decodeRun(run: string): string {
  const bytes = Buffer.from(run.replaceAll('%', ''), 'hex');
  return isUtf8(bytes) ? bytes.toString() : run;
}

/** Whether all percent-encoded bytes in a text are UTF-8. */
export function isEncodedUtf8(text: string): boolean {
  try {
    decodeURIComponent(text.replace(strayPercent, '%25'));
    return true;
  } catch {
    return false;
  }
}
