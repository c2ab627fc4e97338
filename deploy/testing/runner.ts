import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, vi } from 'vitest';
import { freeStackPorts } from './stack-ports.ts';

export type Variables = Record<string, string | number>;

const json = { Accept: 'application/json', 'Content-Type': 'application/json' };

export interface Started {
  child: ChildProcess;
  /** What it has written so far. */
  output(): string;
  exited: Promise<{ code: number | null; output: string }>;
}

/** `make up` without Docker, as people use it: a folder and ports of its own for each test, nothing left after it. */
export class Runner {
  folder = '';
  ports = { LONGHAND_PORT: 0, LONGHAND_EXPANDER_PORT: 0, LONGHAND_TASKS_PORT: 0 };
  readonly #children: ChildProcess[] = [];

  /** The hooks are `beforeAll` and `afterAll` where all tests of a file share what was started. */
  constructor(before = beforeEach, after = afterEach) {
    before(async () => {
      this.folder = await mkdtemp(join(tmpdir(), 'longhand-local-'));
      this.ports = (await freeStackPorts()).ports;
    });
    after(async () => {
      for (const child of this.#children.splice(0)) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        // Its processes die with it.
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      await rm(this.folder, { recursive: true, force: true, maxRetries: 10 });
    });
  }

  /** Runs a command of `main`: up, ps or down. */
  run(
    command: string,
    variables: Variables = {},
    main = join(import.meta.dirname, '../native/main.ts'),
  ): Started {
    const env = { ...process.env, ...asText(this.ports), ...asText(variables) };
    const child = spawn(process.execPath, [main, command, this.folder], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#children.push(child);
    let soFar = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        soFar += chunk;
      });
    }
    const written = Promise.all([text(child.stdout), text(child.stderr)]);
    const exited = once(child, 'exit').then(async ([code]) => ({ code, output: (await written).join('') }));
    return { child, output: () => soFar, exited };
  }

  /** Starts the stack, and resolves as `announced`. */
  up(variables: Variables = {}, main?: string): Promise<Started> {
    return this.announced(this.run('up', variables, main));
  }

  /** Resolves once a stack says that it has started, or rejects with its output if it exits before. */
  async announced(started: Started): Promise<Started> {
    const failed = started.exited.then(({ code, output }) =>
      Promise.reject(new Error(`make up exited with ${code}:\n${output}`)),
    );
    const announced = vi.waitFor(() => expect(started.output()).toContain('Ctrl-C stops everything'), 60_000);
    await Promise.race([announced, failed]);
    return started;
  }

  /** Stops the stack as Ctrl-C does. */
  interrupt({ child, exited }: Started): Started['exited'] {
    child.kill('SIGINT');
    return exited;
  }

  /** Adds a task, and returns its ETag. */
  async add(title: string): Promise<string | null> {
    const response = await fetch(this.tasks, {
      method: 'POST',
      headers: json,
      body: JSON.stringify({ title }),
    });
    expect(response.status).toBe(201);
    return response.headers.get('etag');
  }

  /** The titles of the list. */
  async titles(): Promise<string[]> {
    const list = (await (await fetch(this.tasks, { headers: json })).json()) as {
      tasks: { title: string }[];
    };
    return list.tasks.map(({ title }) => title);
  }

  get tasks(): string {
    return `http://127.0.0.1:${this.ports.LONGHAND_TASKS_PORT}/tasks`;
  }

  /** Resolves once the port serves its page. */
  async isServed(port: number, host = '127.0.0.1'): Promise<void> {
    const status = () =>
      fetch(`http://${host}:${port}/`).then(
        ({ status }) => status,
        () => 0,
      );
    await expect.poll(status, { timeout: 60_000 }).toBe(200);
  }

  /** The ids of the supervised processes by name, as `make ps` shows them. */
  async processes(): Promise<Record<string, number>> {
    const { output } = await this.run('ps').exited;
    const list = /processes +(.*)/.exec(output)?.[1] ?? '';
    return Object.fromEntries(
      list.split(', ').map((entry) => [entry.split(' ')[0] ?? '', Number(entry.split(' ')[1])]),
    );
  }
}

/** The process groups that still have a process; each supervised process leads one. */
export function alive(pids: readonly number[]): number[] {
  return pids.filter((pid) => {
    try {
      return process.kill(-pid, 0);
    } catch {
      return false;
    }
  });
}

const asText = (values: Variables) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, `${value}`]));
