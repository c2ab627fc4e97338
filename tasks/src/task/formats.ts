import { jsonEntries, lines } from './entries.ts';
import { TaskError } from './errors.ts';
import { importSchema } from './schema.ts';
import { type NewTask, readTitle, type Task } from './task.ts';

/** How tasks are written to a file, for people (`text`) or programs (`json`). */
export interface Format {
  type: string;
  before: string;
  line(task: Task, first: boolean): string;
  after: string;
  /** What `read` reads one after the other. */
  entries: typeof lines;
  /**
   * Reads the tasks of an entry, a line or an element of a JSON array, one after the other. A blank line, and the
   * brackets of a JSON array, hold none.
   *
   * @throws TaskError that says what is wrong with it
   */
  read(entry: string, now: Date): Iterable<NewTask>;
}

/** The dot matches U+2028 and U+2029 too (flag s): a title may contain them. */
const taskLine = /^[-*] \[([ xX])\] (.*)$/s;

/** One title per line, with the check box of a Markdown task list in front. */
const text: Format = {
  type: 'text/plain; charset=UTF-8',
  before: '',
  line: ({ title, finished }) => `- [${finished ? 'x' : ' '}] ${title}\n`,
  after: '',
  entries: lines,
  read(entry, now) {
    if (entry.trim() === '') return [];
    const [, box, rest] = taskLine.exec(entry) ?? [];
    const title = readTitle(rest ?? entry);
    const created_at = now.toISOString();
    if (box === undefined || box === ' ') return [{ title, finished: 0, created_at }];
    return [{ title, finished: 1, created_at, updated_at: created_at }];
  },
};

/** A JSON array with one task per line. */
const json: Format = {
  type: 'application/json',
  before: '[',
  line: ({ revision, ...task }, first) => `${first ? '' : ','}\n${JSON.stringify(task)}`,
  after: '\n]\n',
  entries: jsonEntries,
  read(entry, now) {
    const value = entry.trim().replace(/,$/, '');
    if (value === '' || value === '[' || value === ']') return [];
    return [parse(value)]
      .flat()
      .values()
      .map((found) => {
        const { title, created_at = now.toISOString(), ...fields } = readFields(found);
        return { title: readTitle(title), created_at, ...fields };
      });
  },
};

export const formats = { text, json };

/** One task, or an array of them, on each line. */
export const jsonLines = { ...json, entries: lines };

function parse(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    throw new TaskError('bad_json', 'This is not JSON. Send an array of tasks, or one task per line.');
  }
}

function readFields(value: unknown) {
  const read = importSchema.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new TaskError(
    'bad_json',
    `Not a valid task: ${issue?.path.join('.') || 'the value'}: ${issue?.message}.`,
  );
}
