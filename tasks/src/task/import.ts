import { setImmediate as othersTurn } from 'node:timers/promises';
import type { z } from 'zod';
import { type Chunks, maxEntry } from './entries.ts';
import { TaskError } from './errors.ts';
import { type Format, formats } from './formats.ts';
import type { reportSchema } from './schema.ts';
import type { NewTask } from './task.ts';
import { utf8 } from './utf8.ts';

export type Report = z.output<typeof reportSchema>;

/** Problems that a report lists. */
const maxProblems = 100;

/** Refused entries that end an import: this is no file of tasks. */
const maxRefused = 10_000;

/** Milliseconds of work after which others have a turn of the event loop. */
const longestTurn = 10;

/** Tasks that go to the store together. */
const batchSize = 500;

/**
 * Reads tasks entry by entry and inserts them: all tasks of an entry, or none. It holds one batch at a time, however
 * long the file is, and lets others have a turn every 10 ms. If the import ends before the file does, what was read until
 * then is imported.
 *
 * @param file an error that it throws ends the import.
 * @returns the report, the lines of all entries that were refused, and why the import ended before the file did: the
 *   error of `file` or of `insert`, or `invalid_title` if too many entries were refused.
 */
export async function importTasks(
  file: Chunks,
  format: Format,
  insert: (tasks: NewTask[]) => Promise<void>,
  now: Date,
): Promise<{ report: Report; refused: Set<number>; stop: TaskError | undefined }> {
  const report: Report = { imported: 0, refused: 0, problems: [] };
  const refused = new Set<number>();
  let batch: NewTask[] = [];
  /** The first line that is not settled, and the last one that was read. */
  let [first, last] = [1, 0];
  const turn = turns();
  const flush = async () => {
    await insert(batch);
    report.imported += batch.length;
    batch = [];
    first = last + 1;
  };
  const read = async (bytes: Buffer) => {
    const tasks: NewTask[] = [];
    for (const task of format.read(textOf(bytes), now)) {
      tasks.push(task);
      await turn();
    }
    batch.push(...tasks);
  };
  const refuse = ({ message: detail }: TaskError) => {
    report.refused += 1;
    refused.add(last);
    if (report.problems.length < maxProblems) report.problems.push({ line: last, detail });
    if (report.refused < maxRefused) return;
    const many = maxRefused.toLocaleString('en');
    throw new TaskError(
      'invalid_title',
      `${many} lines were refused, so the rest was not read. Is this a list of tasks?`,
    );
  };
  const readAll = async () => {
    for await (const entries of format.entries(file)) {
      await turn();
      for (const { line, bytes } of entries) {
        await turn();
        last = line;
        const fault = await errorOf(() => read(bytes));
        if (fault) refuse(fault);
        if (batch.length >= batchSize) await flush();
      }
    }
  };

  let stop = await errorOf(readAll);
  // What the store did not acknowledge is not sent again: it may be there.
  if (stop?.code !== 'store_unavailable') stop = (await errorOf(flush)) ?? stop;
  if (stop) {
    report.problems.push({ line: first, detail: stop.message });
    report.stopped = first;
  }
  return { report, refused, stop };
}

/**
 * Reads the lines that somebody typed or pasted. The last line comes first: the newest task stands at the top of the
 * list, so it shows the lines in their order.
 */
export async function readLines(text: string, now: Date) {
  const tasks: NewTask[] = [];
  const keep = async (batch: NewTask[]) => void tasks.push(...batch);
  const { report, refused } = await importTasks([Buffer.from(text)], formats.text, keep, now);
  return { tasks: tasks.reverse(), report, refused };
}

/** @throws TaskError `body_too_large`, `not_utf8` */
function textOf(bytes: Buffer): string {
  if (bytes.length <= maxEntry) return utf8(bytes);
  throw new TaskError(
    'body_too_large',
    `A task has at most ${maxEntry / 1024} KiB; put each on a line of its own.`,
  );
}

/** The TaskError with which `step` fails; undefined if it succeeds. */
async function errorOf(step: () => Promise<void>): Promise<TaskError | undefined> {
  try {
    await step();
  } catch (error) {
    if (error instanceof TaskError) return error;
    throw error;
  }
}

/** Returns a function to await between two pieces of long work: it lets others have a turn every 10 ms. */
function turns(): () => Promise<void> {
  let began = performance.now();
  return async () => {
    if (performance.now() - began < longestTurn) return;
    await othersTurn();
    began = performance.now();
  };
}
