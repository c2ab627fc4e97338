import { execFileSync, type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chown, cp, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { childEnvironment } from '@longhand/shared/testing/child-environment.ts';
import { testFolder } from '@longhand/shared/testing/text-file.ts';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { createFolders } from '../native/folders.ts';
import { redis, service } from '../native/processes.ts';
import { supervise } from '../native/supervisor.ts';

describe('A backup of the native stack', () => {
  let folder: string;
  let stack: string;
  beforeEach(() => {
    folder = testFolder();
    stack = join(folder, '.local');
    createFolders(stack);
  });

  /** Starts the tasks service and its store. */
  async function start(): Promise<AsyncDisposableStack> {
    await using started = new AsyncDisposableStack();
    const context = { folder: stack, env: childEnvironment, onLine() {} };
    const specs = [redis('tasks-store', 'tasks', stack), service('tasks', 'tasks', 'tasks-store', stack)];
    for (const spec of specs) started.defer((await supervise(spec, context)).stop);
    return started.move();
  }

  /** Runs backup.sh or restore.sh in the folder with `.local`. */
  const run = (script: string, file: string, input = ''): SpawnSyncReturns<string> =>
    spawnSync(join(import.meta.dirname, `${script}.sh`), ['native', file], {
      cwd: folder,
      input,
      encoding: 'utf8',
    });
  const curl = (socket: string, path: string, ...options: string[]) => {
    const words = ['-fs', '--unix-socket', `run/${socket}.sock`, `http://localhost${path}`, ...options];
    return execFileSync('curl', words, { cwd: stack, encoding: 'utf8' });
  };
  const backupTime = () =>
    /^longhand_backup_timestamp_seconds (\S+)$/m.exec(curl('tasks-ops', '/metrics'))?.[1];
  /** Adds a task. @returns its ETag. */
  const add = (title: string) =>
    curl('tasks', '/tasks', '--json', JSON.stringify({ title }), '-o', '/dev/null', '-w', '%header{etag}');

  test('restores a copy of the running store after confirmation', async () => {
    const first = await start();
    add('kept');
    expect(backupTime()).toBe('0');
    const backup = run('backup', 'saved.rdb');
    expect([backup.stderr, backup.stdout]).toEqual(['', expect.stringMatching(/^saved\.rdb: \d+ bytes\n$/)]);
    expect((await stat(join(folder, 'saved.rdb'))).mode & 0o777).toBe(0o600);
    expect(Number(backupTime()) * 1_000).toBeGreaterThan(Date.now() - 60_000);
    const later = add('added later');
    const whileRunning = run('restore', 'saved.rdb', 'yes\n');
    expect(whileRunning.status).toBe(1);
    expect(whileRunning.stderr).toContain('The stack is running. Stop its store first');
    // A backup without FILE keeps the newest fourteen backups, and does not delete files with other names.
    const days = Array.from({ length: 14 }, (_, i) => `tasks-202601${10 + i}T030000Z.rdb`);
    await mkdir(join(folder, 'backups'));
    for (const name of [...days, 'tasks-before-the-move.rdb'])
      await writeFile(join(folder, 'backups', name), '');
    expect(run('backup', '').status).toBe(0);
    expect((await readdir(join(folder, 'backups'))).toSorted()).toEqual([
      ...days.slice(1),
      expect.stringMatching(/^tasks-\d{8}T\d{6}Z\.rdb$/),
      'tasks-before-the-move.rdb',
    ]);
    await first.disposeAsync();

    const drill = (input: string | Uint8Array) =>
      spawnSync(join(import.meta.dirname, 'redis.sh'), ['drill'], { cwd: folder, input, encoding: 'utf8' });
    const drilled = drill(await readFile(join(folder, 'saved.rdb')));
    expect(drilled.stderr).toBe('');
    expect(drilled.stdout).toMatch(
      /^The backup is good\. Tasks: 1\. Last change: \d{4}-\d\d-\d\d [\d:]{8} UTC\.\nThe first are:\nkept\n$/,
    );

    // The file ends with the checksum.
    const saved = await readFile(join(folder, 'saved.rdb'));
    const damaged = [
      saved.with(-1, (saved.at(-1) ?? 0) ^ 1),
      saved.subarray(0, -10),
      Buffer.concat([saved, saved]),
    ];
    const store = join(stack, 'tasks-store');
    const data = () => readdir(store, { recursive: true });
    const before = await data();
    for (const bytes of [...damaged, Buffer.alloc(0)]) {
      await writeFile(join(folder, 'damaged.rdb'), bytes);
      const refused = run('restore', 'damaged.rdb', 'yes\n');
      expect(refused.status).toBe(1);
      expect(refused.stderr).toMatch(/^This is not a complete backup: /);
      const { status, stdout, stderr } = drill(bytes);
      expect([status, stdout, stderr]).toEqual([1, '', expect.stringMatching(/^This is not a complete/)]);
    }
    expect(run('restore', 'none.rdb').stderr).toBe('none.rdb does not exist or cannot be read.\n');
    const unconfirmed = run('restore', 'saved.rdb');
    expect([unconfirmed.status, unconfirmed.stdout, unconfirmed.stderr]).toEqual([
      1,
      'Replace all tasks with those from saved.rdb? Type yes: ',
      'Nothing was changed.\n',
    ]);
    expect(await data()).toEqual(before);

    // The store must keep its owner, which is another account if root starts the stack.
    const owner = process.getuid?.() === 0 ? 64_999 : (process.getuid?.() ?? 0);
    await chown(store, owner, owner);
    const restored = run('restore', 'saved.rdb', 'yes\n');
    expect([restored.status, restored.stderr]).toEqual([0, '']);
    expect(restored.stdout).toMatch(/The old data is kept in \S+\/appendonlydir\.\d+T\d+Z: delete it when/);
    for (const name of ['', 'appendonly.aof.1.base.rdb'])
      expect((await stat(join(store, 'appendonlydir', name))).uid).toBe(owner);
    const titles = () => {
      const { tasks } = JSON.parse(curl('tasks', '/tasks', '-H', 'Accept: application/json'));
      return tasks.map(({ title }: { title: string }) => title);
    };
    const second = await start();
    expect(titles()).toEqual(['kept']);
    // The ETag of a lost change must not match a later change.
    expect(add('added again')).not.toBe(later);
    await second.disposeAsync();

    const [, aside = ''] = /(appendonlydir\.\w+)/.exec(restored.stdout) ?? [];
    const putBack = () =>
      spawnSync(join(import.meta.dirname, 'redis.sh'), ['put-back', aside, store], {
        cwd: folder,
        encoding: 'utf8',
      });
    expect(putBack()).toMatchObject({ status: 0, stderr: '' });
    const folders = await readdir(store);
    expect(putBack()).toMatchObject({ status: 1, stderr: expect.stringContaining('Nothing was changed.') });
    expect(await readdir(store)).toEqual(folders);
    await using _third = await start();
    expect(titles()).toEqual(['added later', 'kept']);
  });

  test('backs up once a night, keeps fourteen good backups, and says how old the last one is', async () => {
    await using _started = await start();
    add('kept');
    const clock = join(folder, 'clock');
    const at = (time: string) => Date.parse(time) / 1_000;
    await writeFile(clock, `${at('2026-09-01T12:00:00Z')}`);
    // The script looks every ten minutes, but here each pause moves the clock by three hours.
    const programs = testFolder();
    const program = (name: string, script: string) =>
      writeFile(join(programs, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const real = execFileSync('sh', ['-c', 'command -v date'], { encoding: 'utf8' }).trim();
    await program('date', `case $* in +%s) cat ${clock} ;; *) exec ${real} "$@" ;; esac`);
    await program('sleep', `[ "$1" != 600 ] || echo $(($(cat ${clock}) + 3 * 3600)) >${clock}`);
    await mkdir(join(folder, 'backups'));
    const nights = Array.from({ length: 14 }, (_, i) => `tasks-202608${18 + i}T030000Z.rdb`);
    for (const name of nights) await writeFile(join(folder, 'backups', name), '');
    const nightly = spawn(join(import.meta.dirname, 'redis.sh'), ['nightly', join(folder, 'backups')], {
      cwd: folder,
      env: { ...childEnvironment, PATH: `${programs}:${process.env.PATH}` },
    });
    onTestFinished(() => void nightly.kill());
    let log = '';
    nightly.stdout.on('data', (text: Buffer) => {
      log += text;
    });
    const backups = async () => (await readdir(join(folder, 'backups'))).toSorted();
    // The first backup of an installation does not wait for the night.
    await expect.poll(backups, { timeout: 60_000 }).toContain('tasks-20260901T120000Z.rdb');
    await expect.poll(backups, { timeout: 60_000 }).toContain('tasks-20260903T030000Z.rdb');
    await expect.poll(() => Number(backupTime())).toBeGreaterThanOrEqual(at('2026-09-03T03:00:00Z'));
    expect(log).toContain('wrote tasks-20260902T030000Z.rdb');
    expect(await backups()).not.toContain(nights[0]);
    // A new backup stands beside fourteen older ones until the oldest is removed.
    await expect.poll(backups).toHaveLength(14);
    nightly.kill('SIGSTOP');
    const lines = log
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines[0]).toMatchObject({
      level: 'info',
      service: 'backup',
      msg: expect.stringMatching(/^wrote tasks-20260901T120000Z\.rdb\. The backup is good\. Tasks: 1\./),
    });

    // A backup that Redis cannot load does not count.
    await program('redis-server', 'exit 1');
    nightly.kill('SIGCONT');
    await expect
      .poll(() => log, { timeout: 60_000 })
      .toMatch(
        /"level":"error".*no backup: Redis cannot load this backup.* The last good one is 2\d hours old\./,
      );
  });

  test('the backup of Kubernetes keeps fourteen files that Redis can load, and fails otherwise', async () => {
    await using _started = await start();
    add('kept');
    const cronJob = readFileSync(join(import.meta.dirname, '../kubernetes/base/backup.yaml'), 'utf8');
    const job = parseAllDocuments(cronJob)[0]?.toJS().spec.jobTemplate.spec.template.spec;
    const [program, ...args]: string[] = job.containers[0].command;
    expect([program, args.at(-1)]).toEqual(['redis.sh', '/backups']);
    const backups = join(folder, 'backups');
    const keep = (env = {}) =>
      spawnSync(join(import.meta.dirname, 'redis.sh'), [...args.slice(0, -1), backups], {
        cwd: folder,
        env: { ...childEnvironment, ...env },
        encoding: 'utf8',
      });
    const days = Array.from({ length: 14 }, (_, i) => `tasks-202601${10 + i}T030000Z.rdb`);
    await mkdir(backups);
    for (const name of days) await writeFile(join(backups, name), '');
    const { status, stdout } = keep();
    expect([status, stdout]).toEqual([0, expect.stringContaining('The backup is good. Tasks: 1.')]);
    const kept = (await readdir(backups)).toSorted();
    expect(kept).toEqual([...days.slice(1), expect.stringMatching(/^tasks-\d{8}T\d{6}Z\.rdb$/)]);
    expect(Number(backupTime()) * 1_000).toBeGreaterThan(Date.now() - 60_000);

    const programs = testFolder();
    await writeFile(join(programs, 'redis-server'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    const failed = keep({ PATH: `${programs}:${process.env.PATH}` });
    expect([failed.status, failed.stdout]).toEqual([1, expect.stringContaining('Redis cannot load this')]);
    expect((await readdir(backups)).toSorted()).toEqual(kept);
  });

  test('a restore killed at any step leaves the old or the new data', { timeout: 600_000 }, async () => {
    const store = join(stack, 'tasks-store');
    const supervised = () =>
      supervise(redis('tasks-store', 'tasks', stack), { folder: stack, env: childEnvironment, onLine() {} });
    const cli = (...words: string[]) =>
      execFileSync('redis-cli', ['-s', join(stack, 'run/tasks-store.sock'), ...words], { encoding: 'utf8' });
    const first = await supervised();
    cli('SET', 'data', 'restored');
    expect(run('backup', 'saved.rdb').status).toBe(0);
    cli('SET', 'data', 'former');
    await first.stop();
    await cp(store, join(folder, 'former'), { recursive: true });
    // Kills bash before command number `step`.
    const killed = join(folder, 'killed.sh');
    await writeFile(killed, "set -T; trap '((step--)) || kill -KILL $$' DEBUG");
    const input = await readFile(join(folder, 'saved.rdb'));

    const found: string[] = [];
    for (let step = 0, status: number | null = null; status === null; step++) {
      await rm(store, { recursive: true });
      await cp(join(folder, 'former'), store, { recursive: true });
      const script = [join(import.meta.dirname, 'redis.sh'), 'restore', '.local/tasks-store'];
      const env = { ...childEnvironment, BASH_ENV: killed, step: `${step}` };
      ({ status } = spawnSync('bash', script, { cwd: folder, env, input }));
      const again = await supervised();
      found.push(cli('GET', 'data').trim());
      await again.stop();
    }
    expect(found.join(' ')).toMatch(/^former (former )+restored( restored)+$/);

    // The store must not start without its data.
    await rename(join(store, 'appendonlydir'), join(store, 'appendonlydir.undone'));
    await expect(supervised()).rejects.toThrow('tasks-store did not start');
  });

  test('fails without writing a file when the store is down', async () => {
    await writeFile(join(folder, 'saved.rdb'), 'the last one');
    const { status, stdout, stderr } = run('backup', 'saved.rdb');
    expect([status, stdout, stderr]).toEqual([1, '', expect.stringMatching(/^The store was not copied: /)]);
    expect(await readFile(join(folder, 'saved.rdb'), 'utf8')).toBe('the last one');
    expect((await readdir(folder)).toSorted()).toEqual(['.local', 'saved.rdb']);
  });
});

test('the store prints a remedy if a newer Redis wrote its data', async () => {
  const cwd = testFolder();
  await mkdir(join(cwd, 'appendonlydir'));
  await writeFile(join(cwd, 'appendonlydir/appendonly.aof.1.base.rdb'), 'REDIS9999');
  await writeFile(join(cwd, 'appendonlydir/appendonly.aof.manifest'), '');
  const { stdout } = spawnSync(join(import.meta.dirname, 'redis.sh'), ['recover'], { cwd, encoding: 'utf8' });
  expect(stdout).toContain(
    `A newer Redis wrote the data in ${cwd}/appendonlydir. Start that version, or restore`,
  );
});
