import { seed } from '@longhand/shared/testing/random.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inPieces } from '../../testing/pieces.ts';
import { lines } from './entries.ts';
import { formats } from './formats.ts';
import { importTasks } from './import.ts';
import { type NewTask, readTitle, type Task } from './task.ts';

const now = new Date('2026-01-02T03:04:05.678Z');

describe('Lines', () => {
  test.each(['x', ''])('of one chunk leave others a turn after every 500: 30 000 times %j', async (line) => {
    let turns = 0;
    let reading = true;
    const turn = () => {
      turns += 1;
      if (reading) setImmediate(turn);
    };
    setImmediate(turn);
    const source = lines([Buffer.from(`${line}\n`.repeat(30_000))]);
    await importTasks(source, formats.text, async () => {}, now);
    reading = false;
    expect(turns).toBeGreaterThanOrEqual(30_000 / 500);
  });

  test('that are one byte too long are so wherever they are parted', async () => {
    const source = lines([Buffer.from(`${'x'.repeat(64 * 1024)}\r`), Buffer.from('x\n')]);
    for await (const [line] of source) expect(line?.bytes.length).toBeGreaterThan(64 * 1024);
  });

  test('that are too long are not kept, however long they are', async () => {
    const chunk = Buffer.alloc(1_000, 'x');
    const source = lines(Array<Uint8Array>(10_000).fill(chunk));
    for await (const [line] of source) expect(line?.bytes.length).toBeLessThan(64 * 1024 + 2 * chunk.length);
  });
});

describe('Every title', () => {
  const awkward = [
    ...['\u2028', '\u2029', '\u00a0', '\u3000', '\ufeff', '\u0301', '\u200f', '\u202e', '\u200d'],
    ...['- [x] ', '* [ ] ', '[', ']', ',', '{', '}', '"', "'", '\\', '\\n', '&', '<b>', ' ', '🥖', 'é', 'x'],
  ];
  const title = fc.array(fc.constantFrom(...awkward), { minLength: 1, maxLength: 20 }).map((parts) => {
    try {
      return readTitle(parts.join(''));
    } catch {
      return 'blank';
    }
  });

  test.each([formats.text, formats.json])(
    'comes back from a file as it was: $type',
    { timeout: 600_000 },
    async (format) => {
      const finished = fc.constantFrom(0, 1);
      await fc.assert(
        fc.asyncProperty(fc.array(fc.record({ title, finished }), { maxLength: 20 }), async (tasks) => {
          const written = tasks.map((task, i) =>
            format.line(
              { ...task, _id: `${i + 1}`, created_at: now.toISOString(), revision: 1 } as Task,
              i === 0,
            ),
          );
          const file = inPieces(format.before + written.join('') + format.after);
          const read: NewTask[] = [];
          const { report } = await importTasks(
            lines(file),
            format,
            async (batch) => {
              read.push(...batch);
            },
            now,
          );
          expect(report).toEqual({ imported: tasks.length, refused: 0, problems: [] });
          expect(read.map(({ title, finished }) => ({ title, finished }))).toEqual(tasks);
        }),
        { seed, numRuns: rounds({ short: 100, long: 10_000 }) },
      );
    },
  );
});
