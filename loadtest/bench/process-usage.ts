import { readFileSync } from 'node:fs';

/** Microseconds in a tick of the kernel's accounting: USER_HZ is 100 on every Linux. */
const tick = 10_000;

/** Microseconds of CPU time that a process and its children have used so far (Linux). */
export function cpuTime(pid: number): number {
  // The second field, the name, may contain spaces: count from its closing parenthesis. utime and stime are 14 and 15.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  const own = (Number(fields[11]) + Number(fields[12])) * tick;
  return childPids(pid).reduce((sum, child) => sum + cpuTime(child), own);
}

/** Bytes of resident memory of a process and its children. */
export function residentMemory(pid: number): number {
  const kilobytes = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  return childPids(pid).reduce((sum, child) => sum + residentMemory(child), kilobytes * 1_024);
}

function childPids(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}
