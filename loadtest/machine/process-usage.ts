import { readdirSync, readFileSync } from 'node:fs';

/** Microseconds in a tick of the kernel's accounting: USER_HZ is 100 on every Linux. */
const tick = 10_000;

/** Microseconds of CPU time that a process and its children have used so far (Linux). */
export function cpuTime(pid: number): number {
  const own = (pid: number) => {
    // The second field, the name, may contain spaces: count from its closing parenthesis. utime and stime are 14 and 15.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) * tick;
  };
  return sumOverTree(pid, own);
}

/** Bytes of resident memory of a process and its children. One that has exited and waits for its parent holds none. */
export function residentMemory(pid: number): number {
  const own = (pid: number) =>
    1_024 * Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  return sumOverTree(pid, own);
}

/** Open files of a process and its children; sockets are files. */
export const openFiles = (pid: number): number =>
  sumOverTree(pid, (pid) => readdirSync(`/proc/${pid}/fd`).length);

function sumOverTree(pid: number, own: (pid: number) => number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  return children.reduce((sum, child) => sum + sumOverTree(Number(child), own), own(pid));
}
