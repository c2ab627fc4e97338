import { maxLength } from '../expansion/target.ts';
import { arrayStart, type NumberedUrl, readUrls } from './url-list.ts';

/** A line with enough of its text to tell whether it begins an array, or too much white space before it. */
const enough = /\S(?:[^\r\n]*[\r\n]|[^\r\n]{63})|^\s{4096}/;

/**
 * Yields URLs as they arrive, one per line or as a JSON array, which is read whole. Blank ones are skipped. A line of
 * more than 8 KiB comes cut, but still longer than that.
 */
export async function* readUrlStream(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<NumberedUrl> {
  const texts = decoded(bytes);
  let beginning = '';
  for (let next = await texts.next(); !next.done; next = await texts.next()) {
    beginning += next.value;
    if (enough.test(beginning)) break;
  }
  if (!arrayStart.test(beginning)) return yield* lines(beginning, texts);
  const rest = await Array.fromAsync(texts);
  yield* readUrls(beginning + rest.join(''), { max: Number.POSITIVE_INFINITY });
}

async function* decoded(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const chunk of bytes) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}

/** Yields the lines that are not blank. A line ends with LF, CR or both. */
async function* lines(beginning: string, texts: AsyncIterable<string>): AsyncGenerator<NumberedUrl> {
  let line = 1;
  let unfinished = '';
  let afterReturn = false;
  const numbered = (found: string[]): NumberedUrl[] => {
    const first = line;
    line += found.length;
    return found.map((url, i) => [first + i, url] as const).filter(([, url]) => url.trim() !== '');
  };
  const take = (text: string): NumberedUrl[] => {
    const whole = unfinished + (afterReturn && text.startsWith('\n') ? text.slice(1) : text);
    if (text !== '') afterReturn = text.endsWith('\r');
    const found = whole.split(/\r\n|[\r\n]/);
    unfinished = (found.pop() ?? '').slice(0, maxLength + 1);
    return numbered(found);
  };
  // With `yield*` each would cost twice the CPU.
  for (const url of take(beginning)) yield url;
  for await (const text of texts) for (const url of take(text)) yield url;
  for (const url of numbered([unfinished])) yield url;
}
