import { hasMoreValues } from '@longhand/shared/json-values.ts';
import { TaskError } from './errors.ts';
import { findMarker, maxStart, readItem } from './list-markers.ts';
import { importSchema } from './schema.ts';
import { maxTasks, type NewTask, readTitle, type Task, tooMany } from './task.ts';
import { utf8 } from './utf8.ts';

/** Reads the tasks of one line, or of one element of a JSON array. @throws TaskError */
type Entry = (now: Date) => Iterable<NewTask>;

export interface Format {
  type: string;
  before: string;
  line(task: Task, first: boolean): string;
  after: string;
  /** @throws TaskError `bad_json`, `not_utf8`, `body_too_large` if the whole file is invalid */
  entries(file: Buffer): Iterable<Entry>;
}

/** Maximum number of values in JSON, counting each task and each field. Parsing takes up to 25 ms. */
const maxValues = maxTasks * (1 + importSchema.keyof().options.length);

/** A Markdown task list. Each line has a check box and a title. */
const text: Format = {
  type: 'text/plain; charset=UTF-8',
  before: '',
  line: ({ title, finished }) => `- [${finished ? 'x' : ' '}] ${title}\n`,
  after: '',
  entries(file) {
    // A character has at most four bytes.
    const marker = findMarker(file.toString('utf8', 0, 4 * maxStart));
    return lines(file).map((line) => (now) => readLine(utf8(line), marker, now));
  },
};

function readLine(line: string, marker: RegExp | undefined, now: Date): NewTask[] {
  const item = readItem(line, marker);
  if (item.title.trim() === '') return [];
  const title = readTitle(item.title);
  const created_at = now.toISOString();
  if (item.finished === 0) return [{ title, finished: 0, created_at }];
  return [{ title, finished: 1, created_at, updated_at: created_at }];
}

/** A JSON array with one task per line. */
const json: Format = {
  type: 'application/json',
  before: '[',
  line: ({ revision, ...task }, first) => `${first ? '' : ','}\n${JSON.stringify(task)}`,
  after: '\n]\n',
  entries: (file) =>
    parse(utf8(file))
      .values()
      .map((element) => (now) => [readTask(element, now)]),
};

/** One task or one array of tasks per line. Also reads JSON exports. */
const ndjson: Format = {
  ...json,
  type: 'application/x-ndjson',
  entries: (file) => lines(file).map((line) => (now) => readJsonLine(utf8(line), now)),
};

/** Reads the tasks lazily, so that the caller can wait for turns of the event loop in between. */
const readJsonLine = (line: string, now: Date) =>
  parse(line.trim().replace(/^[[\]]$|,$/, ''))
    .values()
    .map((task) => readTask(task, now));

/** Formats, keyed by file extension. */
export const formats = { text, json, ndjson };

function* lines(file: Buffer): Generator<Buffer> {
  for (let start = 0, end = 0; start < file.length; start = end + 1) {
    end = file.indexOf('\n', start);
    if (end < 0) end = file.length;
    yield file.subarray(start, end);
  }
}

/** Parses JSON, and wraps any value except an array in an array. Returns an empty array for blank text. */
function parse(text: string): unknown[] {
  if (hasMoreValues(text, maxValues)) throw tooMany('values of JSON', maxValues);
  try {
    return text.trim() === '' ? [] : [JSON.parse(text)].flat();
  } catch (cause) {
    throw new TaskError('bad_json', `This is not JSON: ${(cause as Error).message}.`, { cause });
  }
}

function readTask(value: unknown, now: Date): NewTask {
  const { data, error } = importSchema.safeParse(value);
  if (error) {
    const [issue] = error.issues;
    const where = issue?.path.join('.') || 'the value';
    throw new TaskError('bad_json', `Not a valid task: ${where}: ${issue?.message}.`);
  }
  const { title, created_at = now.toISOString(), ...fields } = data;
  return { title: readTitle(title), created_at, ...fields };
}
