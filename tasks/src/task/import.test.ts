import { seed } from '@longhand/shared/testing/random.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { formats } from './formats.ts';
import { readTasks } from './import.ts';
import type { NewTask, Task } from './task.ts';

const now = new Date('2026-01-02T03:04:05.678Z');

const read = (file: string, format = formats.json, turn = async () => {}) =>
  readTasks(Buffer.from(file), format, now, turn);

function exported(tasks: NewTask[], format = formats.json) {
  const line = (task: NewTask, i: number) =>
    format.line({ ...task, _id: `${i + 1}`, revision: 1 } as Task, i === 0);
  return format.before + tasks.map(line).join('') + format.after;
}

describe('A JSON array', () => {
  const tasks = [
    { title: 'a "quoted", [bracketed] {title}\\' },
    { title: 'b', finished: 1 },
    { title: 'ö\u2028!' },
  ];

  test.each([
    ['white space', `\n\n \t${JSON.stringify(tasks, null, '\t').replaceAll('\n', '\r\n')}\n\n`],
    ['a byte order mark', `\ufeff${JSON.stringify(tasks)}`],
  ])('may have %s', async (_case, file) => {
    const { tasks: found, report } = await read(file);
    expect(report).toEqual({ imported: 3, refused: 0, problems: [] });
    expect(found.map(({ title }) => title)).toEqual(tasks.map(({ title }) => title));
  });

  test.each([' [ ] ', '', '\n'])('may be empty: %j', async (file) => {
    expect((await read(file)).report).toEqual({ imported: 0, refused: 0, problems: [] });
  });

  test('is imported without the invalid elements', async () => {
    const file = '[\n  {"title": "a"},\n  {"title": 7},\n  {\n    "title": ""\n  },\n 8,  {"title": "b"}\n]';
    const { tasks: found, report } = await read(file);
    expect(found.map(({ title }) => title)).toEqual(['a', 'b']);
    expect(report).toMatchObject({ imported: 2, refused: 3 });
    expect(report.problems.map(({ line }) => line)).toEqual([2, 3, 4]);
  });

  test.each([
    ['lacks a quote', '[{"title":"a"},\n{"title":"b},\n{"title":"c"}]', 'bad_json', 'This is not JSON'],
    ['was cut off', '[{"title":"a"},{"tit', 'bad_json', 'This is not JSON'],
    ['has too many values', '['.repeat(62_501), 'body_too_large', 'At most 62,500 values of JSON'],
  ])('that %s is an error', async (_what, file, code, reason) => {
    await expect(read(file)).rejects.toMatchObject({ code, message: expect.stringContaining(reason) });
  });
});

test.each([
  ['text', formats.text, 'a\n'.repeat(12_501)],
  ['text with faulty lines', formats.text, 'a\n\0\n'.repeat(6_251)],
  ['an array', formats.json, `[${'{"title":"a"},'.repeat(12_500)}{"title":"a"}]`],
  ['arrays on lines', formats.ndjson, `[${'{"title":"a"},'.repeat(12_499)}{"title":"a"}]\n{"title":"a"}`],
])('A file with more than 12,500 tasks is an error: %s', async (_, format, file) => {
  await expect(read(file, format)).rejects.toMatchObject({
    code: 'body_too_large',
    message: 'At most 12,500 tasks can be added at once. Send them in parts.',
  });
});

test('Reading an array on one line takes several turns of the event loop, even if an element is invalid', async () => {
  const titles = `{"title":"${'a'.repeat(500)}"},`.repeat(4);
  const turn = vi.fn(async () => {});
  await read(`[${titles}7]`, formats.ndjson, turn);
  expect(turn).toHaveBeenCalledTimes(4);
});

test('Times outside the years 0000 to 9999 in UTC are invalid', async () => {
  const times = ['9999-12-31T23:59:59-23:59', '0000-01-01T00:00:00+00:01'];
  const { report } = await read(JSON.stringify(times.map((created_at) => ({ title: 'milk', created_at }))));
  expect(report).toMatchObject({ imported: 0, refused: 2 });
});

test('Importing an export and exporting it again produces the same file', { timeout: 600_000 }, async () => {
  const days = ['0000-01-01', '0000-12-31', '1970-01-01', '2024-02-29', '9999-01-01', '9999-12-31'];
  const clocks = ['00:00:00', '00:00', '12:34:56.7', '23:59:59.999999'];
  const offsets = ['Z', '+00:00', '+23:59', '-23:59', '-05:30'];
  const time = fc
    .tuple(...[days, clocks, offsets].map((parts) => fc.constantFrom(...parts)))
    .map(([day, clock, offset]) => `${day}T${clock}${offset}`);
  const awkward = [
    ...'\u2028\u2029\u00a0\u3000\ufeff\u0301\u200f\u202e\u200d[],{}"\'\\& éx',
    ...['- [x] ', '* [ ] ', '\\n', '<b>', '🥖'],
  ];
  const task = fc.record(
    {
      title: fc.oneof(
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }),
        fc.array(fc.constantFrom(...awkward), { minLength: 1, maxLength: 20 }).map((parts) => parts.join('')),
      ),
      finished: fc.constantFrom(0, 1),
      created_at: time,
      updated_at: time,
    },
    { requiredKeys: ['title'] },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(task, { maxLength: 20 }), fc.nat(4), async (tasks, indent) => {
      const first = await read(JSON.stringify(tasks, null, indent));
      for (const format of [formats.json, formats.text]) {
        const file = exported(first.tasks, format);
        const second = await read(file, format);
        expect(second.report).toEqual({ imported: first.tasks.length, refused: 0, problems: [] });
        expect(exported(second.tasks, format)).toBe(file);
        const kept = ({ title, finished }: NewTask) => ({ title, finished });
        expect(second.tasks.map(kept)).toEqual(first.tasks.map(kept));
      }
    }),
    { seed, numRuns: rounds({ short: 40, long: 20_000 }) },
  );
});

test.each([
  ['titles', formats.text, `${'x'.repeat(100)}\n`.repeat(1_000)],
  ['invalid lines', formats.text, `${'x'.repeat(501)}\n`.repeat(1_000)],
  ['empty lines', formats.text, '\n'.repeat(500_000)],
  ['tasks in JSON', formats.json, JSON.stringify(Array(1_000).fill({ title: 'x'.repeat(100) }))],
])('Reading a long file of %s takes many turns of the event loop', async (_, format, file) => {
  const turn = vi.fn(async () => {});
  await read(file, format, turn);
  expect(turn.mock.calls.length).toBeGreaterThan(50);
  expect(turn.mock.calls.length).toBeLessThanOrEqual(1_001);
});
