import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import {
  appendFile,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Runner } from './testing/runner.ts';

const root = join(import.meta.dirname, '..');

describe('A backup of the native stack', { timeout: 120_000 }, () => {
  const runner = new Runner();
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'longhand-backup-'));
    await symlink(runner.folder, join(folder, '.local'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** Runs backup.sh or restore.sh where `.local` is the runner's folder. */
  const run = (script: string, file: string, input = '', env = {}): SpawnSyncReturns<string> =>
    spawnSync(join(root, 'deploy', `${script}.sh`), ['native', file], {
      cwd: folder,
      env: { ...process.env, ...env },
      input,
      encoding: 'utf8',
    });
  const repair = () =>
    spawnSync(process.execPath, [join(root, 'tasks/src/repair-main.ts')], {
      env: { ...process.env, REDIS_URL: 'unix:run/tasks-store.sock' },
      cwd: runner.folder,
      encoding: 'utf8',
    }).stdout;
  const backupTime = () =>
    spawnSync('curl', ['-s', '--unix-socket', 'run/tasks-ops.sock', 'http://localhost/metrics'], {
      cwd: runner.folder,
      encoding: 'utf8',
    }).stdout.match(/^longhand_backup_timestamp_seconds (\S+)$/m)?.[1];

  test('brings the tasks back: made while it works, restored after a question, whole or not at all', async () => {
    const first = await runner.up();
    expect(run('restore', 'none.rdb').stderr).toBe('none.rdb: there is no such file.\n');
    await runner.add('kept');
    expect(backupTime()).toBe('0');
    const made = run('backup', 'saved.rdb');
    expect(made.stderr).toBe('');
    expect(made.stdout).toMatch(/^saved\.rdb: 1 tasks, \d+ bytes\n$/);
    expect(Number(backupTime()) * 1_000).toBeGreaterThan(Date.now() - 60_000);
    const later = await runner.add('added later');
    expect(run('restore', 'saved.rdb').stderr).toContain('The stack is running: stop it (make down)');
    await runner.interrupt(first);

    const checksum = await readFile(join(folder, 'saved.rdb.sha256'), 'utf8');
    await writeFile(join(folder, 'damaged.rdb.sha256'), checksum.replace('saved', 'damaged'));
    await copyFile(join(folder, 'saved.rdb'), join(folder, 'damaged.rdb'));
    await appendFile(join(folder, 'damaged.rdb'), 'x');
    const damaged = run('restore', 'damaged.rdb', 'yes\n');
    expect([damaged.status, damaged.stderr]).toEqual([
      1,
      'damaged.rdb does not match its checksum: it is damaged. Nothing was changed.\n',
    ]);

    // Nobody said yes.
    const unasked = run('restore', 'saved.rdb');
    expect([unasked.status, unasked.stdout, unasked.stderr]).toEqual([
      1,
      'The store has data. Replace everything with saved.rdb? Type yes: ',
      'Nothing was changed.\n',
    ]);
    const second = await runner.up();
    expect(await runner.titles()).toEqual(['added later', 'kept']);
    await runner.interrupt(second);

    // Its checksum fits, but it ends too soon.
    const saved = await readFile(join(folder, 'saved.rdb'));
    await writeFile(join(folder, 'short.rdb'), saved.subarray(0, -10));
    const sums = spawnSync('sha256sum', ['short.rdb'], { cwd: folder, encoding: 'utf8' });
    await writeFile(join(folder, 'short.rdb.sha256'), sums.stdout);
    const short = run('restore', 'short.rdb', 'yes\n');
    expect([short.status, short.stderr]).toEqual([
      1,
      expect.stringMatching(/Unexpected EOF.*\n(.*\n)*The backup was not restored\.\n$/),
    ]);

    const restored = run('restore', 'saved.rdb', 'yes\n');
    expect([restored.status, restored.stderr]).toEqual([0, '']);
    expect(restored.stdout).toMatch(/What was there is kept in \S+\/appendonlydir\.\d+T\d+Z: delete it when/);
    await runner.up();
    expect(await runner.titles()).toEqual(['kept']);
    expect(repair()).toMatch(/^1 tasks; no faults$/m);
    // An ETag that was given out for what is gone fits nothing that comes later.
    expect(await runner.add('added again')).not.toBe(later);
    expect(repair()).toMatch(/^2 tasks; no faults$/m);
  });

  test('deletes the oldest beside it beyond KEEP, and nothing else', async () => {
    await runner.up();
    const made = ['20260101T030000Z', '20260102T030000Z', '20260103T030000Z'].map(
      (day) => `tasks-${day}.rdb`,
    );
    await mkdir(join(folder, 'backups'));
    for (const name of [...made, 'tasks-before-the-move.rdb', 'tasks-2025.rdb'])
      for (const file of [name, `${name}.sha256`]) await writeFile(join(folder, 'backups', file), '');
    const keep = (count: string) => run('backup', '', '', { KEEP: count });
    expect(keep('few').stderr).toBe('KEEP=few: is not a number of backups, such as 14\n');
    expect(keep('2').status).toBe(0);
    const left = (await readdir(join(folder, 'backups'))).toSorted();
    const now = left.find((name) => /^tasks-\d{8}T\d{6}Z\.rdb$/.test(name) && !made.includes(name));
    const kept = [made[2], now, 'tasks-2025.rdb', 'tasks-before-the-move.rdb'];
    expect(left).toEqual(kept.flatMap((name) => [name, `${name}.sha256`]).toSorted());
  });

  test('needs a running store', () => {
    const { status, stderr } = run('backup', 'saved.rdb');
    expect([status, stderr]).toEqual([
      1,
      'The store does not answer: start the stack (make up), then make the backup.\n',
    ]);
  });
});
