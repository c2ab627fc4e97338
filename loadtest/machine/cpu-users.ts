import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { ownCpuTime } from './process-usage.ts';

export interface CpuUser {
  name: string;
  /** Cores: 1 is one core, all the time. */
  cores: number;
}

/** Milliseconds between two looks at all processes: short enough for those of a compiler. */
const interval = 500;

/**
 * Watches which programs use the CPU of this machine. Processes of the same name count together.
 *
 * @param names what processes are called, by id, in place of their program's name.
 */
export function watchCpu(names: Record<number, string> = {}): { stop(): CpuUser[] } {
  const used = new Map<string, number>();
  let last = cpuTimes();
  const started = performance.now();
  const look = () => {
    const now = cpuTimes();
    for (const [pid, time] of now) {
      const more = time - (last.get(pid) ?? 0);
      if (more <= 0) continue;
      const name = names[pid] ?? programName(pid);
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

/** What a stack and a load consist of, on this machine or in containers. */
const ownPrograms =
  /^(main\.ts|nginx|redis-server|k6|control|run\.ts|shortener\.ts|dockerd|containerd.*|docker-proxy)$/;

/** Cores that programs used which have nothing to do with the stack or the load. */
export const coresOfOthers = (users: readonly CpuUser[], own: readonly string[]) =>
  users
    .filter(({ name }) => !ownPrograms.test(name) && !own.includes(name))
    .reduce((sum, { cores }) => sum + cores, 0);

/** The five that used most of it, in words: `tsc 1.62, k6 0.21 of 2 cores`. */
export function describeCpu(users: readonly CpuUser[]): string {
  if (users.length === 0) return 'unknown on this system';
  const list = users.slice(0, 5).map(({ name, cores }) => `${name} ${cores.toFixed(2)}`);
  return `${list.join(', ')} of ${availableParallelism()} cores`;
}

/** Microseconds of CPU time by process; none where the system has no /proc. */
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
    const base = (path: string) => path.split('/').at(-1) ?? '';
    const script =
      /^(node|python[\d.]*|bash|sh|perl)$/.test(base(command)) && args.find((arg) => /^[^-]/.test(arg));
    return (
      (script ? base(script) : base(command)).split(/[ :]/)[0] ||
      readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
    );
  } catch {
    return 'processes that have exited';
  }
}
