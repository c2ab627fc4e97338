import type { z } from 'zod';
import { TaskError } from './errors.ts';
import { type Format, formats } from './formats.ts';
import type { reportSchema } from './schema.ts';
import { maxTasks, type NewTask, tooMany } from './task.ts';

export type Report = z.output<typeof reportSchema>;

/** Maximum bytes of a text or file, enough for `maxTasks` ordinary titles. */
export const maxText = 1024 ** 2;

const maxProblems = 100;

/** Title characters to read per turn of the event loop. A refused title takes a whole turn: refusing 2,000 accents takes 2 ms. */
const charactersPerTurn = 1_000;

/**
 * Reads the tasks of a file. Refuses an entry (a line, or an element of a JSON array) if any of its tasks is invalid.
 *
 * @param turn waits for a turn of the event loop
 * @returns the tasks, the report, and the numbers of the refused entries, from 1
 * @throws TaskError `bad_json` for an invalid JSON array; `body_too_large`
 */
export async function readTasks(file: Buffer, format: Format, now: Date, turn: () => Promise<void>) {
  const tasks: NewTask[] = [];
  const refused = new Set<number>();
  const problems: Report['problems'] = [];
  let line = 0;
  let left = 0;
  const begin = async (characters: number) => {
    left -= characters;
    if (left > 0) return;
    left = charactersPerTurn;
    await turn();
  };
  await turn();
  for (const entry of format.entries(file)) {
    line += 1;
    const { length } = tasks;
    try {
      for (const task of entry(now)) {
        tasks.push(task);
        await begin(task.title.length);
      }
    } catch (error) {
      if (!(error instanceof TaskError)) throw error;
      tasks.length = length;
      refused.add(line);
      await begin(charactersPerTurn);
      if (problems.length < maxProblems) problems.push({ line, detail: error.message });
    }
    if (tasks.length + refused.size > maxTasks) throw tooMany('tasks', maxTasks);
    await begin(1);
  }
  const report: Report = { imported: tasks.length, refused: refused.size, problems };
  return { tasks, report, refused };
}

/** Lines to search per turn of the event loop, which takes a millisecond. */
const linesPerTurn = 20_000;

/** Returns the lines of a text with these numbers, from 1. @param turn waits for a turn of the event loop */
export async function linesAt(text: string, numbers: Set<number>, turn: () => Promise<void>) {
  const found = new Map<number, string>();
  for (let number = 1, start = 0; found.size < numbers.size && start <= text.length; number += 1) {
    if (number % linesPerTurn === 0) await turn();
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    if (numbers.has(number)) found.set(number, text.slice(start, end).replace(/\r$/, ''));
    start = end + 1;
  }
  return found;
}

/** Reads typed or pasted lines. Returns the last line first, because the list shows the newest task first. */
export async function readLines(text: string, now: Date, turn: () => Promise<void>) {
  const { tasks, ...found } = await readTasks(Buffer.from(text), formats.text, now, turn);
  return { tasks: tasks.reverse(), ...found };
}
