import { z } from 'zod';
import { Refusal } from './refusal.ts';
import { type NewTask, readTitle, type Task } from './task.ts';
import { utf8 } from './utf8.ts';

/** How a task is written on a line, for people (`text`) or programs (`json`). */
export interface Format {
  type: string;
  before: string;
  line(task: Task, first: boolean): string;
  after: string;
  /**
   * The tasks of a line; a blank one, and the brackets round a JSON file, hold none.
   *
   * @throws Refusal that says what is wrong with the line
   */
  read(line: string, now: Date): NewTask[];
}

const taskLine = /^[-*] \[([ xX])\] (.*)$/;

/** A title on each line, with the check box of a Markdown task list in front. */
const text: Format = {
  type: 'text/plain; charset=UTF-8',
  before: '',
  line: ({ title, finished }) => `- [${finished ? 'x' : ' '}] ${title}\n`,
  after: '',
  read(line, now) {
    if (line.trim() === '') return [];
    const [, box, rest] = taskLine.exec(line) ?? [];
    const title = readTitle(rest ?? line);
    const created_at = now.toISOString();
    if (box === undefined || box === ' ') return [{ title, finished: 0, created_at }];
    return [{ title, finished: 1, created_at, updated_at: created_at }];
  },
};

const time = z.iso.datetime({ offset: true }).transform((value) => new Date(value).toISOString());
const taskFields = z.object({
  title: z.string(),
  finished: z.literal([0, 1]).default(0),
  created_at: time.optional(),
  updated_at: time.optional(),
});

/** A JSON array with a task on each line, which can be read line by line, too, as can JSON lines. */
const json: Format = {
  type: 'application/json',
  before: '[',
  line: ({ revision, ...task }, first) => `${first ? '' : ','}\n${JSON.stringify(task)}`,
  after: '\n]\n',
  read(line, now) {
    const value = line.trim().replace(/,$/, '');
    if (value === '' || value === '[' || value === ']') return [];
    return [readJson(value)].flat().map((found) => {
      const { title, created_at = now.toISOString(), ...fields } = readFields(found);
      return { title: readTitle(title), created_at, ...fields };
    });
  },
};

export const formats = { text, json };

function readJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new Refusal('bad_json', 'This line is not JSON. A task stands on one line.');
  }
}

function readFields(value: unknown) {
  const read = taskFields.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new Refusal(
    'bad_json',
    `This is no task: ${issue?.path.join('.') || 'the value'}: ${issue?.message}.`,
  );
}

/** Bytes of a line at most: one step of the store has to hold what is on it. */
const maxLine = 64 * 1024;

/**
 * The lines of a text, whatever pieces it comes in, without their ends: bytes still, so that each is judged by itself.
 *
 * @throws Refusal `body_too_large` where a line is too long
 */
export async function* lines(chunks: AsyncIterable<Uint8Array> | Uint8Array[]): AsyncGenerator<Buffer> {
  // Strings of bytes (Latin-1), because strings are quick to part.
  const line = (text: string) => Buffer.from(text.replace(/\r$/, ''), 'latin1');
  let rest = '';
  for await (const chunk of chunks) {
    const parts = (rest + Buffer.from(chunk).toString('latin1')).split('\n');
    rest = parts.pop() ?? '';
    yield* parts.map(line);
    if (rest.length > maxLine) {
      throw new Refusal(
        'body_too_large',
        `A line has at most ${maxLine / 1024} KiB; put each task on its own.`,
      );
    }
  }
  if (rest !== '') yield line(rest);
}

/** What became of an import, line by line. */
export interface Report {
  imported: number;
  /** Lines that were not imported. */
  refused: number;
  /** Why, for the first hundred of them. */
  problems: { line: number; detail: string }[];
  /** The first line that was not looked at any more, where the store failed on the way. */
  stopped?: number;
}

/** Problems that a report tells one by one. */
const maxProblems = 100;

/** Tasks that go to the store together. */
const batchSize = 500;

/**
 * Reads tasks line by line and inserts them: all tasks of a line, or none. It holds one batch at a time,
 * however long the file is.
 *
 * @param refused is told the number of each line that is not imported.
 */
export async function importTasks(
  source: AsyncIterable<Buffer>,
  format: Format,
  insert: (tasks: NewTask[]) => Promise<void>,
  now: Date,
  refused: (line: number) => void = () => {},
): Promise<Report> {
  const report: Report = { imported: 0, refused: 0, problems: [] };
  let batch: NewTask[] = [];
  let number = 0;
  let first = 1;
  const flush = async () => {
    await insert(batch);
    report.imported += batch.length;
    batch = [];
    first = number + 1;
  };
  try {
    for await (const line of source) {
      number += 1;
      try {
        batch.push(...format.read(utf8(line), now));
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        report.refused += 1;
        refused(number);
        if (report.problems.length < maxProblems)
          report.problems.push({ line: number, detail: error.message });
      }
      if (batch.length >= batchSize) await flush();
    }
    await flush();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    report.problems.push({ line: first, detail: error.message });
    report.stopped = first;
  }
  return report;
}
