import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  openSync,
  renameSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Bytes of a file, and how many there are of each log: as of a container's. */
const limits = { size: 10 * 1024 * 1024, files: 3 };

/** In the folder of the logs: what the supervisor writes, the lines of all processes; and what nginx writes itself. */
export const logs = { lines: 'log', access: 'access.log' };

const numbered = (path: string, number: number) => (number === 0 ? path : `${path}.${number}`);

const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Renames the log at `path` if it is full. @returns whether it did, so that its writer has to open it anew. */
export function rotate(path: string, { size, files } = limits, written = sizeOf(path)): boolean {
  if (written < size) return false;
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
  // At once: a file that is opened later could already have its successor's name.
  const open = () => createWriteStream('', { fd: openSync(path, 'a', 0o600) }).on('error', () => {});
  let stream = open();
  let written = sizeOf(path);
  return {
    /** What is no record becomes one with the name of its process. */
    write(service: string, line: string) {
      const record = line.startsWith('{')
        ? line
        : JSON.stringify({ level: 'info', time: new Date().toISOString(), service, msg: line });
      stream.write(`${record}\n`);
      written += record.length;
      if (!rotate(path, limit, written)) return;
      written = 0;
      stream.end();
      stream = open();
    },
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => stream.end(resolve)),
  };
}

/** The lines in `folder` that contain `text`: of each log, the oldest first. */
export async function* findLines(folder: string, text: string): AsyncGenerator<string> {
  for (const name of Object.values(logs)) {
    for (let number = limits.files - 1; number >= 0; number -= 1) {
      const file = numbered(join(folder, name), number);
      if (!existsSync(file)) continue;
      for await (const line of createInterface(createReadStream(file))) if (line.includes(text)) yield line;
    }
  }
}
