import { mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findLines, openLog } from './log-files.ts';

test('the last lines are kept, in files that replace each other, and found by what they contain', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'longhand-log-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const log = openLog(folder, { size: 1_000, files: 3 });
  for (let i = 0; i < 200; i += 1)
    log.write('tasks', JSON.stringify({ service: 'tasks', requestId: `id${i}.` }));
  log.write('tasks-store', 'Server started, id199.');
  expect((await readdir(folder)).sort()).toEqual(['log', 'log.1', 'log.2']);
  const found = async (text: string) => Array.fromAsync(findLines(folder, text));
  expect(await found('id0.')).toEqual([]);
  expect((await found('id199.')).map((line) => JSON.parse(line))).toEqual([
    { service: 'tasks', requestId: 'id199.' },
    { level: 'info', time: expect.any(String), service: 'tasks-store', msg: 'Server started, id199.' },
  ]);
  expect((await found('"id')).length).toBeGreaterThan(40);
});

test('a full disk costs lines, and does not end the stack', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'longhand-log-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await symlink('/dev/full', join(folder, 'log'));
  expect(() => openLog(folder).write('tasks', '{}')).not.toThrow();
});
