import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { freePorts } from '@longhand/shared/testing/free-port.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

/** `make up` without Docker, as people use it. */
describe('The native run', { timeout: 120_000 }, () => {
  let folder: string;
  let ports: Record<'LONGHAND_PORT' | 'LONGHAND_EXPANDER_PORT' | 'LONGHAND_TASKS_PORT', number>;
  const children: ChildProcess[] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'longhand-local-'));
    ports = await freePorts('LONGHAND_PORT', 'LONGHAND_EXPANDER_PORT', 'LONGHAND_TASKS_PORT');
  });
  afterEach(async () => {
    for (const child of children.splice(0)) {
      if (child.exitCode === null && child.signalCode === null) {
        // Its processes die with it.
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
    }
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  });

  const run = (command: string, env: Record<string, string | number> = {}) => {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'main.ts'), command, folder], {
      env: { ...process.env, ...asText(ports), ...asText(env) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.push(child);
    const output = Promise.all([text(child.stdout), text(child.stderr)]);
    const exited = once(child, 'exit').then(async ([code]) => ({ code, output: (await output).join('') }));
    return { child, exited };
  };
  const isServed = (port: number) => {
    const status = () =>
      fetch(`http://127.0.0.1:${port}/`).then(
        ({ status }) => status,
        () => 0,
      );
    return expect.poll(status, { timeout: 60_000 }).toBe(200);
  };
  /** Starts the stack; resolves once it answers, or rejects with its output if it exits before. */
  const up = async () => {
    const started = run('up');
    const failed = started.exited.then(({ code, output }) =>
      Promise.reject(new Error(`make up exited with ${code}:\n${output}`)),
    );
    await Promise.race([isServed(ports.LONGHAND_TASKS_PORT), failed]);
    return started;
  };
  /** The process groups that still have a process; each supervised process leads its own. */
  const alive = async (pids: number[]) =>
    pids.filter((pid) => {
      try {
        return process.kill(-pid, 0);
      } catch {
        return false;
      }
    });
  const pidsOf = (ps: string) =>
    [...(/processes +(.*)/.exec(ps)?.[1] ?? '').matchAll(/(\d+)(?:,|$)/g)].map(([, pid]) => Number(pid));

  test('the tasks survive a stop and a start, and a stop leaves no process', async () => {
    const first = await up();
    const tasks = `http://127.0.0.1:${ports.LONGHAND_TASKS_PORT}/tasks`;
    const json = { Accept: 'application/json', 'Content-Type': 'application/json' };
    const body = JSON.stringify({ title: 'kept' });
    expect((await fetch(tasks, { method: 'POST', headers: json, body })).status).toBe(201);
    const { output: shown } = await run('ps').exited;
    const pids = pidsOf(shown);
    expect(pids).toHaveLength(5);

    first.child.kill('SIGINT');
    const { code, output } = await first.exited;
    expect(code).toBe(0);
    expect(output).toContain(`http://tasks.localhost:${ports.LONGHAND_PORT}/`);
    expect(output).not.toMatch(/error:|exited with/);
    expect(await alive(pids)).toEqual([]);

    await up();
    const listed = await (await fetch(tasks, { headers: json })).json();
    expect(listed).toMatchObject({ tasks: [{ title: 'kept' }] });
    expect(await run('down').exited).toMatchObject({ code: 0, output: 'The stack has stopped.\n' });
  });

  test('a second start says that the stack is already running, and the first is not disturbed', async () => {
    await up();
    const { code, output } = await run('up').exited;
    expect(code).toBe(1);
    expect(output).toBe('The stack is already running: `make ps` shows it, `make down` stops it.\n');
    await isServed(ports.LONGHAND_TASKS_PORT);
  });

  test('killed with SIGKILL, it leaves no process behind, and the next start works as usual', async () => {
    const first = await up();
    const pids = pidsOf((await run('ps').exited).output);
    first.child.kill('SIGKILL');
    await first.exited;
    await expect.poll(() => alive(pids), { timeout: 60_000 }).toEqual([]);
    await up();
  });

  test('a process that is killed is restarted, and nothing is left of the old one', async () => {
    await up();
    const pids = pidsOf((await run('ps').exited).output);
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    await expect.poll(() => alive(pids), { timeout: 60_000 }).toEqual([]);
    await isServed(ports.LONGHAND_TASKS_PORT);
    await isServed(ports.LONGHAND_EXPANDER_PORT);
    const again = pidsOf((await run('ps').exited).output);
    expect(again).toHaveLength(5);
    expect(again.filter((pid) => pids.includes(pid))).toEqual([]);
  });

  test('a port that is taken is named, and nothing is left running', async () => {
    const other = createServer().listen(ports.LONGHAND_TASKS_PORT, '127.0.0.1');
    await once(other, 'listening');
    const { code, output } = await run('up').exited;
    other.close();
    expect(code).toBe(1);
    expect(output).toBe(
      `Port ${ports.LONGHAND_TASKS_PORT} is taken by another program: stop that, or choose another port, ` +
        'as in LONGHAND_TASKS_PORT=18080 make up.\n',
    );
    expect((await run('ps').exited).output).toBe('The stack is not running: `make up` starts it.\n');
  });

  test('all invalid variables are named together', async () => {
    const { code, output } = await run('up', {
      LONGHAND_API_RATE: 'fast',
      LONGHAND_BIND: 'here',
      LONGHAND_PROT: 80,
    }).exited;
    expect(code).toBe(1);
    for (const name of ['LONGHAND_API_RATE=fast', 'LONGHAND_BIND=here', 'LONGHAND_PROT']) {
      expect(output).toContain(name);
    }
  });

  test("an invalid variable of a service stops the start with the service's own message", async () => {
    const { code, output } = await run('up', { EXPANDER_MAX_REDIRECT: 'many' }).exited;
    expect(code).toBe(1);
    expect(output).toContain('expander did not start:');
    expect(output).toContain('EXPANDER_MAX_REDIRECT=many');
    expect((await run('ps').exited).output).toBe('The stack is not running: `make up` starts it.\n');
  });
});

const asText = (values: Record<string, string | number>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, `${value}`]));
