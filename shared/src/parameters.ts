import { decode } from './percent-encoding.ts';

/** Maximum parameters to read of a query or a form. Our longest form has ten. */
const maxParameters = 64;

/** Maximum characters of a name, more than any of ours has, even percent-encoded. Decoding longer names would be in vain. */
const maxName = 100;

export interface Parameters {
  /** Returns the first value of a parameter. */
  get(name: string): string | undefined;
  /** Returns all values of a parameter. */
  all(name: string): string[];
}

/**
 * Reads the first 64 parameters of a query or a form (`application/x-www-form-urlencoded`, WHATWG URL standard). Keeps
 * stray percent signs and bytes that are not UTF-8 as they are, so that a pasted URL stays intact.
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
    if (name !== '' && name.length <= maxName)
      found.push({ name: decodeParameter(name), value: decodeParameter(value) });
    start = end + 1;
  }
  return {
    get: (name) => found.find((parameter) => parameter.name === name)?.value,
    all: (name) => found.filter((parameter) => parameter.name === name).map(({ value }) => value),
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
