import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import { ownCpuTime } from './process-usage.ts';

export interface CpuUser {
  name: string;
  /** Cores: 1 is one core, all the time. */
  cores: number;
}

/** Milliseconds between two looks at all processes: short enough to see a compiler's. */
const interval = 500;

/** Watches which programs use the CPU of this machine. Processes of the same name count together. */
export function watchCpu(): { stop(): CpuUser[] } {
  const used = new Map<string, number>();
  let last = cpuTimes();
  const started = performance.now();
  const look = () => {
    const now = cpuTimes();
    for (const [pid, time] of now) {
      const more = time - (last.get(pid) ?? 0);
      if (more <= 0) continue;
      const name = programName(pid);
      used.set(name, (used.get(name) ?? 0) + more);
    }
    last = now;
  };
  const timer = setInterval(look, interval).unref();
  return {
    stop() {
      clearInterval(timer);
      look();
      const microseconds = (performance.now() - started) * 1_000;
      return [...used]
        .map(([name, time]) => ({ name, cores: time / microseconds }))
        .filter(({ cores }) => cores >= 0.01)
        .sort((a, b) => b.cores - a.cores);
    },
  };
}

/** The programs of a stack and of a load, natively or in containers. */
const ownPrograms =
  /^(main\.ts|nginx|redis-server|k6|control-server\.ts|run\.ts|shortener\.ts|dockerd|containerd.*|docker-proxy)$/;

/** Cores that other programs used. */
export const coresOfOthers = (users: readonly CpuUser[]) =>
  users.filter(({ name }) => !ownPrograms.test(name)).reduce((sum, { cores }) => sum + cores, 0);

/** The five programs that used the most: `tsc 1.62, k6 0.21 of 2 cores`. */
export function describeCpu(users: readonly CpuUser[]): string {
  if (users.length === 0) return 'unknown on this system';
  const list = users.slice(0, 5).map(({ name, cores }) => `${name} ${cores.toFixed(2)}`);
  return `${list.join(', ')} of ${availableParallelism()} cores`;
}

/** Microseconds of CPU time by process; empty on a system without /proc. */
function cpuTimes(): Map<number, number> {
  const times = new Map<number, number>();
  for (const name of existsSync('/proc') ? readdirSync('/proc') : []) {
    if (!/^\d+$/.test(name)) continue;
    try {
      times.set(Number(name), ownCpuTime(Number(name)));
    } catch {
      // It has just exited.
    }
  }
  return times;
}

/** The program, or for an interpreter the script that it runs. */
function programName(pid: number): string {
  try {
    const [command = '', ...args] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    const isInterpreter = /^(node|python[\d.]*|bash|sh|perl)$/.test(basename(command));
    const script = isInterpreter && args.find((arg) => /^[^-]/.test(arg));
    const [name] = basename(script || command).split(/[ :]/);
    return name || readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return 'processes that have exited';
  }
}
