import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import { freeStackPorts } from './temporary-stack.ts';

type Variables = Record<string, string>;

export interface Started {
  child: ChildProcess;
  /** The output so far. */
  output(): string;
  exited: Promise<{ code: number | null; output: string }>;
}

/** Runs `make up` without Docker, in its own folder and on its own ports. Cleans up after each test file. */
export class Runner {
  /** Entry point of `make up` without Docker. */
  main = join(import.meta.dirname, '../native/main.ts');
  /** Checkout folder whose long path contains special characters. */
  checkout = '';
  /** Parent folder of `checkout`. */
  home = '';
  ports = { LONGHAND_PORT: 0, LONGHAND_EXPANDER_PORT: 0, LONGHAND_TASKS_PORT: 0 };
  variables: Variables = {};
  readonly #children: ChildProcess[] = [];

  constructor() {
    beforeAll(async () => {
      this.home = await mkdtemp(join(tmpdir(), 'longhand-local-'));
      await chmod(this.home, 0o711);
      this.checkout = join(this.home, `$HOME [a-z] "it's" ;#{${'x'.repeat(100)}`);
      await mkdir(this.checkout);
      Object.assign(this, await freeStackPorts());
    });
    afterAll(async () => {
      for (const child of this.#children.splice(0)) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        // The kernel kills the stack's processes when this child dies.
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      await rm(this.home, { recursive: true, force: true, maxRetries: 10 });
    });
  }

  /** Runs a command of `main`: up, ps or down. */
  run(command: string, variables: Variables = {}): Started {
    const env = { ...process.env, ...this.variables, ...variables };
    const child = spawn(process.execPath, [this.main, command, this.folder], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#children.push(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        output += chunk;
      });
    }
    const exited = once(child, 'close').then(([code]) => ({ code, output }));
    return { child, output: () => output, exited };
  }

  /** Resolves once the stack prints that it has started. Rejects with the output if the stack exits first. */
  async announced(started: Started): Promise<Started> {
    const failed = started.exited.then(({ code, output }) =>
      Promise.reject(new Error(`make up exited with ${code}:\n${output}`)),
    );
    const announced = vi.waitFor(() => expect(started.output()).toContain('Ctrl-C stops the stack'), 60_000);
    await Promise.race([announced, failed]);
    return started;
  }

  get folder(): string {
    return join(this.checkout, '.local');
  }

  /** Resolves once `GET /` on the port returns 200. */
  async isServed(port: number, host = '127.0.0.1'): Promise<void> {
    const status = () =>
      fetch(`http://${host}:${port}/`).then(
        ({ status }) => status,
        () => 0,
      );
    await expect.poll(status, { timeout: 60_000 }).toBe(200);
  }
}

/** Parses process names and IDs in the output of the stack or `make ps`. */
export function processesOf(output: string): Record<string, number> {
  const entries = /processes +(.*)/.exec(output)?.[1]?.matchAll(/([\w-]+) (\d+)/g) ?? [];
  return Object.fromEntries([...entries].map(([, name = '', pid]) => [name, Number(pid)]));
}

/** Returns the process groups that still exist. */
export function alive(pids: readonly number[]): number[] {
  return pids.filter((pid) => {
    try {
      return process.kill(-pid, 0);
    } catch {
      return false;
    }
  });
}
