import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { forEachLine } from './lines.ts';
import { keepLine, rotate } from './log-files.ts';

test('the last lines are kept, in files that replace each other', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'longhand-log-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (let i = 0; i < 200; i += 1) {
    keepLine(folder, 'tasks', JSON.stringify({ service: 'tasks', requestId: `id${i}.` }));
    rotate(join(folder, 'log'), { size: 1_000, files: 3 });
  }
  keepLine(folder, 'tasks-store', 'Server started.');
  expect((await readdir(folder)).sort()).toEqual(['log', 'log.1', 'log.2']);
  const [last, before, oldest] = await Promise.all(
    ['log', 'log.1', 'log.2'].map((name) => readFile(join(folder, name), 'utf8')),
  );
  const store = { level: 'info', time: expect.any(String), service: 'tasks-store', msg: 'Server started.' };
  expect(JSON.parse(`${last?.trim().split('\n').at(-1)}`)).toEqual(store);
  expect(`${oldest}${before}${last}`).toContain('id199.');
  expect(`${oldest}${before}${last}`).not.toContain('id0.');
  expect(`${before}`.length).toBeGreaterThan(1_000);
});

test('a full disk costs lines, and does not end the stack', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'longhand-log-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await symlink('/dev/full', join(folder, 'log'));
  expect(() => keepLine(folder, 'tasks', '{}')).not.toThrow();
});

test('a line of output ends at a line feed only, wherever the output is cut', async () => {
  const output = new PassThrough();
  const lines: string[] = [];
  forEachLine(output, (line) => lines.push(line));
  const bytes = Buffer.from('a\u2028b\rc\né\nlast');
  for (const byte of bytes) output.write(Buffer.of(byte));
  output.end();
  await new Promise((resolve) => output.on('close', resolve));
  expect(lines).toEqual(['a\u2028b\rc', 'é', 'last']);
});
