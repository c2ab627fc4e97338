import { hasMoreValues } from '@longhand/shared/json-values.ts';
import { HTTPException } from 'hono/http-exception';
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
  /** Before each step: eight million line ends take 0.3 s. */
  turn?: () => Promise<void>;
}

/** Characters that are split into lines in one turn. */
const pieceSize = 64 * 1024;

/** The beginning of an array, but not of a URL without a scheme: `[::1]/x`. */
const arrayStart = /^\s*\[(?!\s*[\da-f:.]{1,45}\])/i;

/**
 * Reads URLs, one per line or as a JSON array. Blank ones are skipped. A URL of more than 8 KiB comes cut from a line,
 * but still longer than that.
 *
 * @throws HTTPException 413 if there are more than `max`.
 * @throws ExpansionError `invalid_url` if the text is declared to be JSON but is not an array.
 */
export async function readUrls(
  body: string,
  { max = maxUrls, json = false, turn = async () => {} }: ListOptions = {},
): Promise<NumberedUrl[]> {
  await turn();
  const array = json || arrayStart.test(body) ? await readArray(body, max, turn) : null;
  if (json && !array) {
    throw new ExpansionError('invalid_url', 'Content-Type says JSON, but the body is not an array.');
  }
  if (array) return elements(array);
  const urls: NumberedUrl[] = [];
  const split = lineSplitter();
  for (let start = 0; start < body.length; start += pieceSize) {
    await turn();
    for (const url of split(body.slice(start, start + pieceSize), start + pieceSize >= body.length)) {
      if (urls.length === max) throw tooManyUrls(max);
      urls.push(url);
    }
  }
  return urls;
}

/** Lines that a list begins in one turn: if they are cached, each takes about 0.1 ms, and nothing else stops them. */
const linesATurn = 8;

/** Yields `urls`, a few in each turn. */
export async function* inTurns(
  urls: readonly NumberedUrl[],
  turn: () => Promise<void>,
): AsyncGenerator<NumberedUrl> {
  for (const [i, url] of urls.entries()) {
    if (i % linesATurn === 0) await turn();
    yield url;
  }
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
    return yield* await readUrls(beginning + rest.join(''), { max: Number.POSITIVE_INFINITY });
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
 * Splits text that arrives in pieces into lines, which end with LF, CR or both, and yields those that are not blank. The
 * last piece ends a line, too.
 */
function lineSplitter() {
  let line = 0;
  let unfinished = '';
  return function* (text: string, isLast = false): Generator<NumberedUrl> {
    // A CR at the end may be the first half of a line end.
    const lines = (unfinished + text).split(isLast ? /\r\n?|\n/ : /\r\n|\n|\r(?!$)/);
    const rest = isLast ? '' : (lines.pop() ?? '');
    // The beginning, and the end, which may be a CR.
    unfinished = rest.slice(0, maxLength) + rest.slice(maxLength).slice(-2);
    for (const url of lines) {
      line += 1;
      if (url.trim() !== '') yield [line, url];
    }
  };
}

/** The values of an array, but for blank strings. */
function elements(array: unknown[]): NumberedUrl[] {
  const numbered = array.map((url, i): NumberedUrl => [i + 1, url]);
  return numbered.filter(([, url]) => typeof url !== 'string' || url.trim() !== '');
}

/** The array in `body`; null if it is not one. @throws HTTPException 413 if it has too many values. */
async function readArray(body: string, max: number, turn: () => Promise<void>): Promise<unknown[] | null> {
  if (hasMoreValues(body, max)) throw tooManyUrls(max);
  await turn();
  try {
    const value: unknown = JSON.parse(body);
    return Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

const tooManyUrls = (max: number) =>
  new HTTPException(413, { message: `There are more than ${max} URLs; send them in several requests.` });
