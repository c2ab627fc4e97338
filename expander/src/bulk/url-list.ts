import { hasMoreValues } from '@longhand/shared/json-values.ts';
import { HTTPException } from 'hono/http-exception';
import { ExpansionError } from '../expansion/errors.ts';
import { maxLength } from '../expansion/target.ts';
import { decodeList, decodeListStream } from './list-encoding.ts';

/** Maximum URLs per request. */
const maxUrls = 10_000;

/** A list entry and its number, from 1. `url` is null for a JSON value that is not a string. */
export type NumberedUrl = [line: number, url: string | null];

/** Waits for the client's turn in the event loop. */
type Turn = () => Promise<void>;

/** Number of bytes to process per turn. Splitting eight million line endings takes 0.3 s. */
const chunkSize = 64 * 1024;

/**
 * Reads the URLs of a request body.
 *
 * @param isJson whether `Content-Type` is JSON.
 * @throws HTTPException 413 if there are more than 10,000 URLs.
 * @throws ExpansionError `invalid_url` if `isJson` and the body is not an array.
 */
export async function readUrls(
  body: Uint8Array,
  { isJson = false, turn = async () => {} }: { isJson?: boolean; turn?: Turn } = {},
): Promise<NumberedUrl[]> {
  if (isJson || arrayStart.test(decodeList(body.subarray(0, chunkSize)))) {
    await turn();
    const text = decodeList(body);
    await turn();
    if (hasMoreValues(text, maxUrls)) throw tooManyUrls();
    await turn();
    const array = parseArray(text);
    if (array) return array;
    if (isJson) {
      throw new ExpansionError('invalid_url', 'Content-Type says JSON, but the body is not an array.');
    }
  }
  const chunks = async function* () {
    for (let start = 0; start < body.length; start += chunkSize) {
      await turn();
      yield body.subarray(start, start + chunkSize);
    }
  };
  const urls: NumberedUrl[] = [];
  // A line keeps only its chunk in memory, not the whole text.
  for await (const url of linesOf(decodeListStream(chunks()))) {
    if (urls.length === maxUrls) throw tooManyUrls();
    urls.push(url);
  }
  return urls;
}

const tooManyUrls = () =>
  new HTTPException(413, { message: `The list has more than ${maxUrls} URLs; split it across requests.` });

/** Number of lines to start per turn. A cached line takes about 0.1 ms without yielding to the event loop. */
const linesATurn = 8;

/** Yields `urls`, a few per turn, and drops each. @param keep receives the number of characters that remain. */
export async function* inTurns(
  urls: NumberedUrl[],
  turn: Turn,
  keep: (characters: number) => void,
): AsyncGenerator<NumberedUrl> {
  let remaining = urls.reduce((sum, [, url]) => sum + (url?.length ?? 0), 0);
  for (const [i, entry] of urls.entries()) {
    if (i % linesATurn === 0) await turn();
    const [line, url] = entry;
    entry[1] = null;
    remaining -= url?.length ?? 0;
    keep(remaining);
    yield [line, url];
  }
}

/** Matches enough text to tell whether it starts a JSON array. */
const enough = /\S(?:[^\r\n]*[\r\n]|[^\r\n]{63})|^\s{4096}/;

/** Yields URLs from a stream of any length as they arrive. Buffers a JSON array completely. */
export async function* readUrlStream(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<NumberedUrl> {
  const texts = decodeListStream(bytes);
  let start = '';
  while (!enough.test(start)) {
    const { value, done } = await texts.next();
    if (done) break;
    start += value;
  }
  if (arrayStart.test(start)) {
    start += (await Array.fromAsync(texts)).join('');
    const array = parseArray(start);
    if (array) return yield* array;
  }
  yield* linesOf(
    (async function* () {
      yield start;
      yield* texts;
    })(),
  );
}

/** Yields non-blank lines, which end with LF, CR or CRLF. Truncates a huge line to little more than `maxLength`. */
async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<NumberedUrl> {
  let line = 0;
  let unfinished = '';
  const split = function* (text: string, lineEnd: RegExp): Generator<NumberedUrl> {
    const lines = (unfinished + text).split(lineEnd);
    const rest = lines.pop() ?? '';
    // Keep two extra characters, because the last may be the CR of a CRLF.
    unfinished = rest.slice(0, maxLength) + rest.slice(maxLength).slice(-2);
    for (const url of lines) {
      line += 1;
      if (url.trim() !== '') yield [line, url];
    }
  };
  // A CR at the end of a chunk may be half of a CRLF. `yield*` would double the CPU time.
  for await (const text of chunks) for (const url of split(text, /\r\n|\n|\r(?!$)/)) yield url;
  for (const url of split('\n', /\r\n?|\n/)) yield url;
}

/** Matches the start of a JSON array, but not a URL such as `[::1]/x`. */
const arrayStart = /^\s*\[(?!\s*[\da-f:.]{1,45}\])/i;

/** Parses an array and drops blank strings. @returns null if `text` is not an array. */
function parseArray(text: string): NumberedUrl[] | null {
  try {
    const array: unknown = JSON.parse(text);
    if (!Array.isArray(array)) return null;
    const numbered = array.map((url, i): NumberedUrl => [i + 1, typeof url === 'string' ? url : null]);
    return numbered.filter(([, url]) => url === null || url.trim() !== '');
  } catch {
    return null;
  }
}
