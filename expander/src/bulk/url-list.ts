import { ExpansionError } from '../expansion/errors.ts';
import { maxLength } from '../expansion/target.ts';

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
const arrayStart = /^\s*\[(?!\s*[\da-f:.]{1,45}\])/i;

/**
 * Reads URLs, one per line or as a JSON array. Blank ones are skipped. A URL of more than 8 KiB comes cut from a line,
 * but still longer than that.
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
  for (const numbered of array ? elements(array) : lineSplitter()(body, true)) {
    if (urls.length === max) throw tooMany(max);
    urls.push(numbered);
  }
  return urls;
}

/** A line with enough of its text to tell whether it begins an array, or too much white space before it. */
const enough = /\S(?:[^\r\n]*[\r\n]|[^\r\n]{63})|^\s{4096}/;

/** Yields URLs as they arrive, like `readUrls`, but without a limit. An array is read whole. */
export async function* readUrlStream(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<NumberedUrl> {
  const texts = decoded(bytes);
  let beginning = '';
  for (let next = await texts.next(); !next.done; next = await texts.next()) {
    beginning += next.value;
    if (enough.test(beginning)) break;
  }
  if (arrayStart.test(beginning)) {
    const rest = await Array.fromAsync(texts);
    return yield* readUrls(beginning + rest.join(''), { max: Number.POSITIVE_INFINITY });
  }
  const split = lineSplitter();
  // With `yield*` each would cost twice the CPU.
  for (const url of split(beginning)) yield url;
  for await (const text of texts) for (const url of split(text)) yield url;
  for (const url of split('', true)) yield url;
}

async function* decoded(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const chunk of bytes) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}

/**
 * Splits text that arrives in pieces into lines, which end with LF, CR or both, and yields those that are not blank,
 * without a string for each of eight million line ends. The last piece ends a line, too.
 */
function lineSplitter() {
  const [lineFeed, carriageReturn] = [0x0a, 0x0d];
  let line = 1;
  let unfinished = '';
  let afterReturn = false;
  return function* (text: string, isLast = false): Generator<NumberedUrl> {
    let start = afterReturn && text.startsWith('\n') ? 1 : 0;
    if (text !== '') afterReturn = text.endsWith('\r');
    for (let i = start; i < text.length; i += 1) {
      const character = text.charCodeAt(i);
      if (character !== lineFeed && character !== carriageReturn) continue;
      const url = unfinished + text.slice(start, i);
      if (url.trim() !== '') yield [line, url];
      if (character === carriageReturn && text.charCodeAt(i + 1) === lineFeed) i += 1;
      start = i + 1;
      line += 1;
      unfinished = '';
    }
    unfinished = (unfinished + text.slice(start)).slice(0, maxLength + 1);
    if (isLast && unfinished.trim() !== '') yield [line, unfinished];
  };
}

/** Yields the values of an array, but for blank strings. */
function* elements(array: unknown[]): Generator<NumberedUrl> {
  for (const [i, url] of array.entries())
    if (typeof url !== 'string' || url.trim() !== '') yield [i + 1, url];
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
