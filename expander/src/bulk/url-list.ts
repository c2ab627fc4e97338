import { ExpansionError } from '../expansion/errors.ts';

/** URLs in one request. */
const maxUrls = 10_000;

/** A URL, or another value of a JSON array in its place, with its number, counted from 1. */
export type NumberedUrl = readonly [line: number, url: unknown];

export interface ListOptions {
  /** URLs accepted; 10 000 by default. */
  max?: number;
  /** Whether the text is declared to be JSON. */
  json?: boolean;
}

/** The beginning of an array, but not of a URL without a scheme: `[::1]/x`. */
export const arrayStart = /^\s*\[(?!\s*[\da-f:.]{1,45}\])/i;

/**
 * Reads URLs, one per line or as a JSON array. Blank ones are skipped.
 *
 * @throws ExpansionError `invalid_url` if there are more than `max`, or if the text is declared to be JSON and is no array.
 */
export function readUrls(text: string, { max = maxUrls, json = false }: ListOptions = {}): NumberedUrl[] {
  const body = text.replace(/^\ufeff/, '');
  const array = json || arrayStart.test(body) ? readArray(body, max) : null;
  if (json && !array) {
    throw new ExpansionError('invalid_url', 'Content-Type says JSON, but the body is not an array.');
  }
  const urls: NumberedUrl[] = [];
  for (const [line, url] of array ? numbered(array) : lines(body)) {
    if (typeof url === 'string' && url.trim() === '') continue;
    if (urls.length === max) throw tooMany(max);
    urls.push([line, url]);
  }
  return urls;
}

/** Yields the lines that are not empty, without a string for each of eight million line ends. */
function* lines(body: string): Generator<NumberedUrl> {
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

function* numbered(array: unknown[]): Generator<NumberedUrl> {
  for (const [i, url] of array.entries()) yield [i + 1, url];
}

/** The array in `body`; null if it is none. @throws ExpansionError if it has too many values. */
function readArray(body: string, max: number): unknown[] | null {
  if (hasMoreValues(body, max)) throw tooMany(max);
  try {
    const value: unknown = JSON.parse(body);
    return Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** Whether JSON has more than `max` values at any depth: parsed, a body may take many times its size. */
function hasMoreValues(json: string, max: number): boolean {
  let values = 0;
  let quoted = false;
  for (let i = 0; i < json.length && values <= max; i += 1) {
    const character = json[i] as string;
    if (quoted && character === '\\') i += 1;
    else if (character === '"') quoted = !quoted;
    // A value follows a comma, or it is the first one of an array or object.
    else if (!quoted && ',[{'.includes(character)) values += 1;
  }
  return values > max;
}

function tooMany(max: number): ExpansionError {
  return new ExpansionError('invalid_url', `There are more than ${max} URLs; send them in several requests.`);
}
