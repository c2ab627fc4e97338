import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { alive, Runner, type Started } from '../testing/runner.ts';
import { logFile } from './log.ts';

const logs = join(import.meta.dirname, '../logs.sh');

describe('The native run', { timeout: 120_000 }, () => {
  const runner = new Runner();

  /** A failed request is found in the log by its id. */
  async function findsRequests() {
    const { 'tasks-store': store = 0 } = await runner.processes();
    process.kill(store, 'SIGSTOP');
    const page = await fetch(runner.tasks);
    process.kill(store, 'SIGCONT');
    const ID = page.headers.get('x-request-id') ?? '';
    expect([page.status, await page.text()]).toEqual([503, expect.stringContaining(`request ${ID}`)]);
    const shown = (id: string) => spawnSync(logs, [id, join(runner.folder, logFile)]);
    const line = (service: string) => `(?=[^]*"service":"${service}".*"path":"/tasks","status":503)`;
    await expect.poll(() => `${shown(ID).stdout}`).toMatch(new RegExp(line('tasks') + line('proxy')));
    expect(shown('../x').status).toBe(1);
  }

  test('the tasks survive a stop and a start, requests are found, and a stop leaves no process', async () => {
    const first = await runner.up();
    await runner.add('kept');
    const pids = Object.values(await runner.processes());
    expect(pids).toHaveLength(5);

    const { code, output } = await runner.interrupt(first);
    expect(code).toBe(0);
    expect(output).toContain(`http://tasks.localhost:${runner.ports.LONGHAND_PORT}/`);
    expect(output).not.toMatch(/error:|exited with/);
    await expect.poll(() => alive(pids)).toEqual([]);

    await runner.up();
    expect(await runner.titles()).toEqual(['kept']);
    expect(readFileSync(join(runner.folder, logFile), 'utf8')).not.toContain('stopped');
    await findsRequests();
    expect(await runner.run('down').exited).toMatchObject({ code: 0, output: 'The stack has stopped.\n' });
  });

  const starters = rounds({ short: 3, long: 10 });
  test(`of ${starters} starts at once one wins, and the others say so`, async () => {
    const starts = Array.from({ length: starters }, () => runner.run('up'));
    const ended: { code: number | null; output: string }[] = [];
    for (const { exited } of starts) exited.then((end) => ended.push(end));
    await expect.poll(() => ended.length, { timeout: 60_000 }).toBe(starters - 1);
    const message = 'The stack is already running: `make ps` shows it, `make down` stops it.\n';
    expect(ended).toEqual(Array(starters - 1).fill({ code: 1, output: message }));
    await runner.isServed(runner.ports.LONGHAND_TASKS_PORT);
  });

  test('every port that is taken is named, and nothing is left running', async () => {
    const { LONGHAND_EXPANDER_PORT: one, LONGHAND_TASKS_PORT: two } = runner.ports;
    const others = [one, two].map((port) => createServer().listen(port, '127.0.0.1'));
    await Promise.all(others.map((other) => once(other, 'listening')));
    const { code, output } = await runner.run('up').exited;
    for (const other of others) other.close();
    expect(code).toBe(78);
    const taken = (port: number, name: string) =>
      `Port ${port} is taken by another program: stop that, or choose another port, as in ${name}=18080 make up.\n`;
    expect(output).toBe(taken(one, 'LONGHAND_EXPANDER_PORT') + taken(two, 'LONGHAND_TASKS_PORT'));
    expect((await runner.run('ps').exited).output).toBe('The stack is not running: `make up` starts it.\n');
  });

  test('a folder that cannot be made is named', async () => {
    await writeFile(join(runner.folder, 'file'), '');
    runner.folder = join(runner.folder, 'file', 'data');
    const { code, output } = await runner.run('up').exited;
    runner.folder = join(runner.folder, '..', '..');
    expect([code, output]).toEqual([
      78,
      `${runner.folder}/file/data cannot be written (ENOTDIR): the stack needs a folder for its data.\n`,
    ]);
  });
});

describe('The native run, when its processes end,', { timeout: 120_000 }, () => {
  const runner = new Runner(beforeAll, afterAll);
  let stack: Started;
  beforeAll(async () => {
    stack = await runner.up();
  });

  test('restarts those that are killed, and nothing is left of the old ones', async () => {
    const pids = Object.values(await runner.processes());
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    await expect.poll(() => alive(pids), { timeout: 60_000 }).toEqual([]);
    await runner.isServed(runner.ports.LONGHAND_TASKS_PORT);
    await runner.isServed(runner.ports.LONGHAND_EXPANDER_PORT);
    const again = Object.values(await runner.processes());
    expect(again).toHaveLength(5);
    expect(again.filter((pid) => pids.includes(pid))).toEqual([]);
  });

  test('kills and restarts a service that hangs, and says so', async () => {
    const { tasks: pid = 0 } = await runner.processes();
    process.kill(pid, 'SIGSTOP');
    await expect.poll(() => alive([pid]), { timeout: 60_000, interval: 500 }).toEqual([]);
    expect(stack.output()).toContain('tasks          | error: hangs; killing it\n');
    await runner.isServed(runner.ports.LONGHAND_TASKS_PORT);
  });

  test("nginx's requests are in the log alone, and `make logs` follows it", async () => {
    const follower = spawn(logs, ['', join(runner.folder, logFile)], { detached: true });
    let followed = '';
    follower.stdout.setEncoding('utf8').on('data', (text: string) => {
      followed += text;
    });
    const path = `/nowhere-${randomUUID()}`;
    expect((await fetch(`http://127.0.0.1:${runner.ports.LONGHAND_PORT}${path}`)).status).toBe(404);
    await expect.poll(() => followed).toContain(`"path":"${path}","status":404`);
    expect(stack.output()).not.toContain(path);
    process.kill(-(follower.pid ?? 0));
  });

  test('leaves no process behind when it is killed itself, and the next start works as usual', async () => {
    const pids = Object.values(await runner.processes());
    stack.child.kill('SIGKILL');
    await stack.exited;
    await expect.poll(() => alive(pids), { timeout: 60_000 }).toEqual([]);
    await runner.up();
  });
});

describe('The native run, wrongly configured,', { timeout: 120_000 }, () => {
  const runner = new Runner();

  test.each<[string, Record<string, string>, string]>([
    [
      'names all invalid variables together',
      { LONGHAND_API_RATE: 'fast', LONGHAND_BIND: 'here', LONGHAND_PROT: '80', LONGHAND_TASKS_PORT: '0' },
      'Invalid environment:\n' +
        '  LONGHAND_PROT: there is no such variable\n' +
        '  LONGHAND_BIND=here: is not an IP address\n' +
        '  LONGHAND_TASKS_PORT=0: is not from 1 to 65535\n' +
        '  LONGHAND_API_RATE=fast: is not a rate such as 10r/s or 30r/m\n',
    ],
    [
      'passes on what a service says of its own variables',
      { EXPANDER_MAX_REDIRECT: 'many' },
      'Invalid environment:\n  EXPANDER_MAX_REDIRECT=many: is not a whole number from 0 to 20\n',
    ],
    [
      'says that an address is not one of this machine',
      { LONGHAND_BIND: '192.0.2.1' },
      'LONGHAND_BIND=192.0.2.1 is not an address of this machine.\n',
    ],
    [
      'says that two ports are the same',
      // A port that no other test is given.
      { LONGHAND_PORT: '27999', LONGHAND_TASKS_PORT: '27999' },
      'LONGHAND_PORT and LONGHAND_TASKS_PORT are both 27999: they must differ.\n',
    ],
    [
      'escapes what would command the terminal',
      { LONGHAND_BIND: '\u001b[2J\u202e' },
      'Invalid environment:\n  LONGHAND_BIND=\\u001b[2J\\u202e: is not an IP address\n',
    ],
  ])('it %s, and exits with 78', async (_, variables, message) => {
    const { code, output } = await runner.run('up', variables).exited;
    // A service reads its variables after others have started and written their lines.
    expect(output.replace(/^\S+ +\| .*\n/gm, '')).toBe(message);
    expect(code).toBe(78);
    expect((await runner.run('ps').exited).output).toBe('The stack is not running: `make up` starts it.\n');
  });
});
