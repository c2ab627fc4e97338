import { readFileSync } from 'node:fs';

/** A tick of the kernel's accounting in microseconds: USER_HZ is 100 on every Linux. */
const tick = 10_000;

/** Microseconds of CPU time that a process and its children have used so far (Linux). */
export function cpuTime(pid: number): number {
  // The name, second, may hold spaces: count from behind its parenthesis. 14 and 15 are utime and stime.
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  const own = (Number(stat[11]) + Number(stat[12])) * tick;
  return children(pid).reduce((sum, child) => sum + cpuTime(child), own);
}

/** Bytes of memory that a process and its children hold (resident set). */
export function residentMemory(pid: number): number {
  const kilobytes = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  return children(pid).reduce((sum, child) => sum + residentMemory(child), kilobytes * 1_024);
}

function children(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}
