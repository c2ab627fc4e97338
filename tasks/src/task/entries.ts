import { TaskError } from './errors.ts';

/** What one task is read from: a line, or an element of a JSON array. Still bytes, so that each is judged by itself. */
export interface Entry {
  /** The number of the line on which it starts, from 1. */
  line: number;
  bytes: Buffer;
}

type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Entries of a file as they are found, some at a time: none of the steps takes more than a few milliseconds. */
export type Entries = AsyncIterable<Iterable<Entry>>;

/** Bytes of an entry: one step of the store has to hold its tasks. */
export const maxEntry = 64 * 1024;

/** Strings of bytes (Latin-1), because JavaScript splits strings faster than buffers. */
const latin1 = (chunk: Uint8Array) =>
  Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1');

/**
 * The lines of a file, whatever chunks it comes in, without their line ends. Of a line that is too long comes only as
 * much as shows that it is.
 */
export async function* lines(chunks: Chunks): Entries {
  let rest = '';
  let number = 0;
  const entry = (text: string): Entry => ({
    line: ++number,
    bytes: Buffer.from(text.replace(/\r$/, ''), 'latin1'),
  });
  for await (const chunk of chunks) {
    const parts = latin1(chunk).split('\n');
    // One byte more than the longest line and its carriage return is enough to tell.
    parts[0] = rest.length > maxEntry + 1 ? rest : rest + parts[0];
    rest = parts.pop() ?? '';
    yield parts.values().map(entry);
  }
  if (rest !== '') yield [entry(rest)];
}

/** The elements of a JSON array, however it is printed; the lines of a file that does not begin with one. */
export async function* jsonEntries(chunks: AsyncGenerator<Uint8Array>): Entries {
  const head: Uint8Array[] = [];
  let start: string | undefined;
  for (let size = 0; start === undefined && size <= maxEntry; ) {
    const { value, done } = await chunks.next();
    if (done) break;
    head.push(value);
    size += value.length;
    start = /\S/.exec(latin1(value))?.[0];
  }
  const all = (async function* () {
    yield* head;
    yield* chunks;
  })();
  yield* start === '[' ? elements(all) : lines(all);
}

/**
 * The elements of a JSON array, each of which may be invalid by itself.
 *
 * @throws TaskError `bad_json` where the file ends before the array does
 */
async function* elements(chunks: Chunks): Entries {
  const splitter = elementSplitter();
  for await (const chunk of chunks) {
    const text = latin1(chunk);
    // A chunk of brackets alone holds as many elements as bytes.
    for (let i = 0; i < text.length; i += 16_384) {
      yield splitter.push(text.slice(i, i + 16_384));
    }
  }
  yield splitter.end();
}

function elementSplitter() {
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
    push(text: string): Entry[] {
      for (const [token] of text.matchAll(/[^"\\[\]{},\n]+|[\s\S]/g)) read(token);
      return found.splice(0);
    },
    end(): Entry[] {
      if (depth > 0) throw new TaskError('bad_json', 'The file ends before its JSON array does.');
      end();
      return found.splice(0);
    },
  };
}
