import { ExpansionError } from '../expansion/errors.ts';

/** URLs in one request. */
const maxUrls = 10_000;

/** A URL, or what stands in its place in a JSON array, with its number: counted from 1, as it was given. */
export type Numbered = readonly [line: number, url: unknown];

export interface ListOptions {
  /** URLs that are taken; 10 000, unless said otherwise. */
  max?: number;
  /** Whether the text has been declared to be JSON. */
  json?: boolean;
}

/** The beginning of an array, or of a URL that lacks its scheme: `[::1]/x`. */
const arrayStart = /^\s*\[(?!\s*[\da-f:.]{1,45}\])/i;

/**
 * Reads URLs, one a line or as a JSON array. Blank ones are passed over.
 *
 * @throws ExpansionError `invalid_url` where there are more than `max`, or where JSON was declared and is no array.
 */
export function readUrls(text: string, { max = maxUrls, json = false }: ListOptions = {}): Numbered[] {
  const body = text.replace(/^\ufeff/, '');
  const array = json || arrayStart.test(body) ? readArray(body, max) : null;
  if (json && !array) {
    throw new ExpansionError('invalid_url', 'The body is declared to be JSON and is no JSON array.');
  }
  const urls: Numbered[] = [];
  for (const [line, url] of array ? numbered(array) : lines(body)) {
    if (typeof url === 'string' && url.trim() === '') continue;
    if (urls.length === max) throw tooMany(max);
    urls.push([line, url]);
  }
  return urls;
}

/** Walks the lines that are not empty. Eight million line ends make no eight million strings. */
function* lines(body: string): Generator<Numbered> {
  const [lineFeed, carriageReturn] = [0x0a, 0x0d];
  let line = 1;
  let start = 0;
  for (let i = 0; i < body.length; i += 1) {
    const character = body.charCodeAt(i);
    if (character !== lineFeed && character !== carriageReturn) continue;
    if (i > start) yield [line, body.slice(start, i)];
    if (character === carriageReturn && body.charCodeAt(i + 1) === lineFeed) i += 1;
    start = i + 1;
    line += 1;
  }
  if (start < body.length) yield [line, body.slice(start)];
}

function* numbered(array: unknown[]): Generator<Numbered> {
  for (const [i, url] of array.entries()) yield [i + 1, url];
}

/** The array that `body` is, or null where it is none. @throws ExpansionError where it has too many values. */
function readArray(body: string, max: number): unknown[] | null {
  if (hasMoreValues(body, max)) throw tooMany(max);
  try {
    const value: unknown = JSON.parse(body);
    return Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** Whether JSON has more than `max` values, however deep: a small body may make objects of many times its size. */
function hasMoreValues(json: string, max: number): boolean {
  let values = 0;
  let quoted = false;
  for (let i = 0; i < json.length && values <= max; i += 1) {
    const character = json[i] as string;
    if (quoted && character === '\\') i += 1;
    else if (character === '"') quoted = !quoted;
    // Each value but the first of its array or object comes after a comma.
    else if (!quoted && ',[{'.includes(character)) values += 1;
  }
  return values > max;
}

function tooMany(max: number): ExpansionError {
  return new ExpansionError('invalid_url', `These are more than ${max} URLs; send them in several requests.`);
}
