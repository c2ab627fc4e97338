import {
  closeSync,
  createReadStream,
  existsSync,
  mkdirSync,
  openSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Bytes of a log file and files of a log, as in containers. */
const limits = { size: 10 * 1024 * 1024, files: 3 };

/** The log of all processes, which the supervisor writes, and nginx's access log. */
export const logs = { lines: 'log', access: 'access.log' };

const numbered = (path: string, number: number) => (number === 0 ? path : `${path}.${number}`);

/** Renames the log at `path` if it is full. @returns whether it did: its writer then has to reopen it. */
export function rotate(path: string, { size, files } = limits): boolean {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) < size) return false;
  for (let number = files - 1; number > 0; number -= 1) {
    const older = numbered(path, number - 1);
    if (existsSync(older)) renameSync(older, numbered(path, number));
  }
  return true;
}

/** Keeps the lines of a stack's processes in `folder`. */
export function openLog(folder: string, limit = limits) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, logs.lines);
  const open = () => openSync(path, 'a', 0o600);
  let fd = open();
  return {
    /** Writes a line as a JSON record. On a full disk it is lost. */
    write(service: string, line: string) {
      const record = line.startsWith('{')
        ? line
        : JSON.stringify({ level: 'info', time: new Date().toISOString(), service, msg: line });
      try {
        writeSync(fd, `${record}\n`);
        if (!rotate(path, limit)) return;
        const full = fd;
        fd = open();
        closeSync(full);
      } catch {
        // The stack goes on without its log.
      }
    },
  };
}

/** The lines of each log that contain `text`, oldest first. */
export async function* findLines(folder: string, text: string): AsyncGenerator<string> {
  for (const name of Object.values(logs)) {
    for (let number = limits.files - 1; number >= 0; number -= 1) {
      const file = numbered(join(folder, name), number);
      if (!existsSync(file)) continue;
      for await (const line of createInterface(createReadStream(file))) if (line.includes(text)) yield line;
    }
  }
}
