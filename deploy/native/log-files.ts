import { appendFileSync, existsSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Bytes of a log file and files of a log, as in containers. */
const limits = { size: 10 * 1024 * 1024, files: 3 };

/** The log of all processes, which the supervisor writes, and nginx's access log. */
export const logs = { lines: 'log', access: 'access.log' };

/** Renames the log at `path` if it is full. @returns whether it did: its writer then has to reopen it. */
export function rotate(path: string, { size, files } = limits): boolean {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) < size) return false;
  for (let number = files - 1; number > 0; number -= 1) {
    const newer = number === 1 ? path : `${path}.${number - 1}`;
    if (existsSync(newer)) renameSync(newer, `${path}.${number}`);
  }
  return true;
}

/** Keeps a line of a process's output in `folder`, as a JSON record. On a full disk it is lost. */
export function keepLine(folder: string, service: string, line: string): void {
  const record = line.startsWith('{')
    ? line
    : JSON.stringify({ level: 'info', time: new Date().toISOString(), service, msg: line });
  try {
    appendFileSync(join(folder, logs.lines), `${record}\n`);
  } catch {
    // The stack goes on without its log.
  }
}
