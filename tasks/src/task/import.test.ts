import { seed } from '@longhand/shared/testing/random.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import { longestWait } from '@longhand/shared/testing/worst-input.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inPieces } from '../../testing/pieces.ts';
import { jsonEntries, lines } from './entries.ts';
import { formats } from './formats.ts';
import { importTasks } from './import.ts';
import { type NewTask, readTitle, type Task } from './task.ts';

const now = new Date('2026-01-02T03:04:05.678Z');

test.each([
  ['lines', Array(50).fill('milk\n'.repeat(10_000)), lines, formats.text],
  ['blank lines', Array(20).fill('\n'.repeat(60_000)), lines, formats.text],
  ['JSON', ['[', ...Array(20).fill('{"title":"milk"},'.repeat(4_000)), ']'], jsonEntries, formats.json],
])('A long file of %s leaves others a turn every 10 ms', async (_, chunks, entries, format) => {
  const source = entries(iterate(chunks.map((chunk) => Buffer.from(chunk))));
  expect(await longestWait(() => importTasks(source, format, async () => {}, now))).toBeLessThan(100);
});

describe('Lines', () => {
  async function* read(chunks: Uint8Array[]) {
    for await (const entries of lines(chunks)) yield* entries;
  }

  test('that are one byte too long are so wherever they are parted', async () => {
    const source = read([Buffer.from(`${'x'.repeat(64 * 1024)}\r`), Buffer.from('x\n')]);
    for await (const { bytes } of source) expect(bytes.length).toBeGreaterThan(64 * 1024);
  });

  test('that are too long are not kept, however long they are', async () => {
    const chunk = Buffer.alloc(1_000, 'x');
    const source = read(Array<Uint8Array>(10_000).fill(chunk));
    for await (const { bytes } of source) expect(bytes.length).toBeLessThan(64 * 1024 + 2 * chunk.length);
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

async function* iterate(chunks: AsyncIterable<Uint8Array> | Uint8Array[]) {
  yield* chunks;
}

/** Imports `file` as JSON, in pieces of three bytes. */
async function readJson(file: string) {
  const tasks: NewTask[] = [];
  const source = jsonEntries(iterate(inPieces(file)));
  const insert = async (batch: NewTask[]) => void tasks.push(...batch);
  return { tasks, ...(await importTasks(source, formats.json, insert, now)) };
}

const exported = (tasks: NewTask[]) => {
  const line = (task: NewTask, i: number) =>
    formats.json.line({ ...task, _id: `${i + 1}`, revision: 1 } as Task, i === 0);
  return formats.json.before + tasks.map(line).join('') + formats.json.after;
};

describe('A JSON array', () => {
  const tasks = [
    { title: 'a "quoted", [bracketed] {title}\\' },
    { title: 'b', finished: 1 },
    { title: 'ö\u2028!' },
  ];

  test.each([
    ['pretty-printed', JSON.stringify(tasks, null, 2)],
    ['with tabs and carriage returns', JSON.stringify(tasks, null, '\t').replaceAll('\n', '\r\n')],
    ['on one line', JSON.stringify(tasks)],
    ['behind white space', `\n\n \t${JSON.stringify(tasks)}\n\n`],
    ['one task per line', `[\n${tasks.map((task) => JSON.stringify(task)).join(',\n')}\n]\n`],
  ])('%s is read as JSON', async (_case, file) => {
    const { tasks: read, report } = await readJson(file);
    expect(report).toEqual({ imported: 3, refused: 0, problems: [] });
    expect(read.map(({ title }) => title)).toEqual(tasks.map(({ title }) => title));
  });

  test.each(['[]', ' [ ] ', '', '\n'])('%j holds no task', async (file) => {
    expect((await readJson(file)).report).toEqual({ imported: 0, refused: 0, problems: [] });
  });

  test('has its faulty elements refused one by one, with the line on which each starts', async () => {
    const file =
      '[\n  {"title": "a"},\n  {"title": 7},\n  {\n    "title": ""\n  },\n  x,\n  {"title": "b"}\n]';
    const { tasks: read, report } = await readJson(file);
    expect(read.map(({ title }) => title)).toEqual(['a', 'b']);
    expect(report).toMatchObject({ imported: 2, refused: 3 });
    expect(report.problems.map(({ line }) => line)).toEqual([3, 4, 7]);
  });

  test('that lacks a quote is imported up to there, and the report says so', async () => {
    const { tasks: read, stop } = await readJson('[{"title":"a"},\n{"title":"b},\n{"title":"c"}]');
    expect(read.map(({ title }) => title)).toEqual(['a']);
    expect(stop?.code).toBe('bad_json');
  });

  test('that was cut off is imported up to there, and the report says so', async () => {
    const { tasks: read, report, stop } = await readJson('[{"title":"a"},{"title":"b"},{"tit');
    expect(read.map(({ title }) => title)).toEqual(['a', 'b']);
    expect(stop?.code).toBe('bad_json');
    expect(report.problems.at(-1)?.detail).toContain('ends before');
  });

  test('with an element over 64 KiB loses that one', async () => {
    const { report } = await readJson(`[{"title":"${'x'.repeat(70_000)}"},{"title":"a"}]`);
    expect(report).toMatchObject({ imported: 1, refused: 1 });
  });
});

describe('Years', () => {
  test.each(['9999-12-31T23:59:59-23:59', '0000-01-01T00:00:00+00:01'])(
    'a time that leaves the years 0000 to 9999 in UTC is refused: %s',
    async (created_at) => {
      const { report } = await readJson(JSON.stringify([{ title: 'milk', created_at }]));
      expect(report).toMatchObject({ imported: 0, refused: 1 });
    },
  );
});

test('Export, import and export again make the same file, whatever was imported first', {
  timeout: 600_000,
}, async () => {
  const two = (value: number) => `${value}`.padStart(2, '0');
  const time = fc
    .tuple(
      fc.constantFrom('0000-01-01', '0000-12-31', '1970-01-01', '2024-02-29', '9999-01-01', '9999-12-31'),
      fc.constantFrom('00:00:00', '00:00', '12:34:56.7', '23:59:59.999999'),
      fc.constantFrom('+', '-'),
      fc.nat(23),
      fc.nat(59),
    )
    .map(([day, clock, sign, hours, minutes]) => `${day}T${clock}${sign}${two(hours)}:${two(minutes)}`);
  const task = fc.record(
    {
      title: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }),
      finished: fc.constantFrom(0, 1),
      created_at: time,
      updated_at: time,
    },
    { requiredKeys: ['title'] },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(task, { maxLength: 20 }), fc.nat(4), async (tasks, indent) => {
      const first = await readJson(JSON.stringify(tasks, null, indent));
      const file = exported(first.tasks);
      const second = await readJson(file);
      expect(second.report).toEqual({ imported: first.tasks.length, refused: 0, problems: [] });
      expect(exported(second.tasks)).toBe(file);
    }),
    { seed, numRuns: rounds({ short: 200, long: 20_000 }) },
  );
});
