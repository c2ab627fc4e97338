import { TaskError } from './errors.ts';

/** What one task is read from: a line, or an element of a JSON array. Still bytes, so that each is judged by itself. */
export interface Entry {
  /** The number of the line on which it starts, from 1. */
  line: number;
  bytes: Buffer;
}

export type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Finds the entries of a text that comes in pieces. */
interface Splitter {
  push(text: string): Iterable<Entry>;
  end(): Iterable<Entry>;
}

/** Bytes of an entry: one step of the store has to hold its tasks. */
export const maxEntry = 64 * 1024;

/**
 * The lines of a file, whatever chunks it comes in, without their line ends. Of a line that is too long comes only as
 * much as shows that it is.
 */
export const lines = (chunks: Chunks) => split(chunks, lineSplitter);

/**
 * The elements of a JSON array, however it is printed, each of which may be invalid by itself; the lines of a file that
 * does not begin with one.
 *
 * @throws TaskError `bad_json` where the file ends before the array does
 */
export const jsonEntries = (chunks: Chunks) =>
  split(chunks, (head) => {
    const [start] = /\S/.exec(head) ?? [];
    if (start === '[') return elementSplitter();
    return start || head.length > maxEntry ? lineSplitter() : undefined;
  });

/**
 * The entries of a file as they are found, some at a time: none of the steps takes more than a few milliseconds. Texts
 * are strings of bytes (Latin-1), because JavaScript splits strings faster than buffers.
 *
 * @param choose gets the beginning of the file; undefined if that is too short to tell.
 */
async function* split(chunks: Chunks, choose: (head: string) => Splitter | undefined) {
  let text = '';
  let splitter: Splitter | undefined;
  for await (const chunk of chunks) {
    text += Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1');
    splitter ??= choose(text);
    if (!splitter) continue;
    // A chunk of brackets alone holds as many elements as bytes.
    for (let i = 0; i < text.length; i += 16_384) yield splitter.push(text.slice(i, i + 16_384));
    text = '';
  }
  yield splitter?.end() ?? [];
}

function lineSplitter(): Splitter {
  let rest = '';
  let number = 0;
  const entry = (text: string): Entry => ({
    line: ++number,
    bytes: Buffer.from(text.replace(/\r$/, ''), 'latin1'),
  });
  return {
    push(text) {
      const parts = text.split('\n');
      // One byte more than the longest line and its carriage return is enough to tell.
      parts[0] = rest.length > maxEntry + 1 ? rest : rest + parts[0];
      rest = parts.pop() ?? '';
      return parts.values().map(entry);
    },
    end: () => (rest === '' ? [] : [entry(rest)]),
  };
}

function elementSplitter(): Splitter {
  let [line, depth, inString, escaped] = [1, 0, false, false];
  let element: { line: number; text: string } | undefined;
  const found: Entry[] = [];

  const end = () => {
    if (element) found.push({ line: element.line, bytes: Buffer.from(element.text.trimEnd(), 'latin1') });
    element = undefined;
  };
  const add = (token: string) => {
    element ??= { line, text: '' };
    if (element.text.length <= maxEntry) element.text += token;
  };
  const read = (token: string) => {
    const delimits = !inString && (depth === 1 ? ',]' : depth === 0 ? '[' : '').includes(token);
    if (inString) {
      if (token === '"' && !escaped) inString = false;
      escaped = token === '\\' && !escaped;
    } else if (token === '"') inString = true;
    else if (token === '[' || token === '{') depth += 1;
    else if (token === ']' || token === '}') depth -= 1;
    if (delimits) end();
    else if (element || /\S/.test(token)) add(token);
    if (token === '\n') line += 1;
  };
  return {
    push(text) {
      for (const [token] of text.matchAll(/[^"\\[\]{},\n]+|[\s\S]/g)) read(token);
      return found.splice(0);
    },
    end() {
      if (depth > 0) throw new TaskError('bad_json', 'The file ends before its JSON array does.');
      end();
      return found.splice(0);
    },
  };
}
