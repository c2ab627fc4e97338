import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Held, Hold } from './hold.ts';

/** Connections that one process holds: a process may often open no more than 20,000 files. */
const perProcess = 10_000;

export interface Crowd {
  /** What its processes hold together. */
  held(): Held;
  /** Resolves once all connections are open. */
  reached(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts processes that hold connections. */
export function startCrowd(options: Hold, start: (hold: Hold) => ChildProcess = startHold): Crowd {
  const members: { child: ChildProcess; held: Held }[] = [];
  let notify = () => {};
  for (let left = options.count; left > 0; left -= perProcess) {
    const child = start({ ...options, count: Math.min(left, perProcess) });
    const member = { child, held: { open: 0, opened: 0, statuses: {} } };
    members.push(member);
    if (!child.stdout) throw new Error('the output of the process cannot be read');
    createInterface(child.stdout).on('line', (line) => {
      member.held = JSON.parse(line);
      notify();
    });
  }
  const held = () => members.map((member) => member.held).reduce(sum);
  return {
    held,
    async reached() {
      while (held().open < options.count) {
        await new Promise<void>((resolve) => {
          notify = resolve;
        });
      }
    },
    async stop() {
      await Promise.all(
        members.map(async ({ child }) => {
          if (child.exitCode !== null || child.signalCode !== null) return;
          const ended = once(child, 'exit');
          child.stdin?.end();
          await ended;
        }),
      );
    },
  };
}

/** The program on this machine. */
export function startHold(hold: Hold): ChildProcess {
  const program = join(import.meta.dirname, 'hold.ts');
  return spawn(process.execPath, [program, JSON.stringify(hold)], { stdio: ['pipe', 'pipe', 'inherit'] });
}

const sum = (a: Held, b: Held): Held => ({
  open: a.open + b.open,
  opened: a.opened + b.opened,
  statuses: sumCounts(a.statuses, b.statuses),
});

function sumCounts(a: Record<string, number>, b: Record<string, number>): Record<string, number> {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries([...names].map((name) => [name, (a[name] ?? 0) + (b[name] ?? 0)]));
}
