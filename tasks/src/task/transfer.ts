import { setImmediate as turnOfOthers } from 'node:timers/promises';
import { z } from 'zod';
import { Refusal } from './errors.ts';
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

/** The dot stands for all there is on a line: U+2028 and U+2029, which would end it here, may stand in a title. */
const taskLine = /^[-*] \[([ xX])\] (.*)$/s;

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

/** Lines that are read without giving up the turn: 64 KiB hold as many blank ones. */
const linesInATurn = 500;

/**
 * The lines of a text, whatever pieces it comes in, without their ends: bytes still, so that each is judged by
 * itself. They come some hundred at a time, and others get a turn between. Of a line that is too long comes as
 * much as shows that it is.
 */
export async function* lines(chunks: AsyncIterable<Uint8Array> | Uint8Array[]): AsyncGenerator<Buffer[]> {
  // Strings of bytes (Latin-1), because strings are quick to part.
  const line = (text: string) => Buffer.from(text.replace(/\r$/, ''), 'latin1');
  let rest = '';
  for await (const chunk of chunks) {
    const parts = Buffer.from(chunk).toString('latin1').split('\n');
    // Once a line is too long, even if it ends in a carriage return, no more of it is kept.
    parts[0] = rest.length > maxLine + 1 ? rest : rest + parts[0];
    rest = parts.pop() ?? '';
    for (let i = 0; i < parts.length; i += linesInATurn) {
      yield parts.slice(i, i + linesInATurn).map(line);
      await turnOfOthers();
    }
  }
  if (rest !== '') yield [line(rest)];
}

/** What became of an import, line by line. */
export interface Report {
  imported: number;
  /** Lines that were not imported. */
  refused: number;
  /** Why, for the first hundred of them. */
  problems: { line: number; detail: string }[];
  /** The line to go on from, where the import ended before the file did. */
  stopped?: number;
}

/** Problems that a report tells one by one. */
const maxProblems = 100;

/** Refused lines with which an import ends: this is no file of tasks, and no use reading on. */
const maxRefused = 10_000;

/** Tasks that go to the store together. */
const batchSize = 500;

/**
 * Reads tasks line by line and inserts them: all tasks of a line, or none. It holds one batch at a time,
 * however long the file is. Where it ends before the file does, what was read until then is imported.
 *
 * @param source a refusal that it fails with ends the import.
 * @param refused is told the number of each line that is not imported.
 * @returns the report, and why the import ended before the file did: the refusal of `source` or of `insert`,
 *   or `invalid_title` where too many lines were refused.
 */
export async function importTasks(
  source: AsyncIterable<Buffer[]>,
  format: Format,
  insert: (tasks: NewTask[]) => Promise<void>,
  now: Date,
  refused: (line: number) => void = () => {},
): Promise<{ report: Report; stop: Refusal | undefined }> {
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
  const refuse = ({ message: detail }: Refusal) => {
    report.refused += 1;
    refused(number);
    if (report.problems.length < maxProblems) report.problems.push({ line: number, detail });
    if (report.refused === maxRefused) throw tooManyRefused();
  };
  const readAll = async () => {
    for await (const piece of source) {
      for (const line of piece) {
        number += 1;
        try {
          batch.push(...readLine(line, format, now));
        } catch (error) {
          if (!(error instanceof Refusal)) throw error;
          refuse(error);
        }
        if (batch.length >= batchSize) await flush();
      }
    }
  };

  let stop = await refusal(readAll);
  // What the store did not acknowledge is not sent once more: it may be there.
  if (stop?.code !== 'store_unavailable') stop = (await refusal(flush)) ?? stop;
  if (stop) {
    report.problems.push({ line: first, detail: stop.message });
    report.stopped = first;
  }
  return { report, stop };
}

function readLine(line: Buffer, format: Format, now: Date): NewTask[] {
  if (line.length <= maxLine) return format.read(utf8(line), now);
  throw new Refusal('body_too_large', `A line has at most ${maxLine / 1024} KiB; put each task on its own.`);
}

/** What `step` is refused with, undefined where it is carried out. */
async function refusal(step: () => Promise<void>): Promise<Refusal | undefined> {
  try {
    await step();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

function tooManyRefused(): Refusal {
  const many = maxRefused.toLocaleString('en');
  return new Refusal(
    'invalid_title',
    `${many} lines were refused, so the rest was not read. Is this a list of tasks?`,
  );
}
