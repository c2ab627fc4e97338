import {
  createReadStream,
  createWriteStream,
  existsSync,
  fchownSync,
  mkdirSync,
  openSync,
  renameSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Bytes of a file, and how many files there are: as of a container's log. */
const limits = { size: 10 * 1024 * 1024, files: 3 };

const fileName = (folder: string, number: number) => join(folder, number === 0 ? 'log' : `log.${number}`);

/** Keeps the output of a stack's processes in `folder`, in files that replace each other once they are full. */
export function openLogFiles(folder: string, { size, files } = limits) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const open = () => {
    // At once: a file that is opened later could already have its successor's name.
    const fd = openSync(fileName(folder, 0), 'a', 0o600);
    // Root's runner writes for the owner of the folder, who may start the next one.
    const { uid, gid } = statSync(folder);
    if (process.getuid?.() === 0) fchownSync(fd, uid, gid);
    return createWriteStream('', { fd }).on('error', () => {});
  };
  let stream = open();
  let written = existsSync(fileName(folder, 0)) ? statSync(fileName(folder, 0)).size : 0;
  return {
    /** What is no record becomes one with the name of its process. */
    write(service: string, line: string) {
      const record = line.startsWith('{')
        ? line
        : JSON.stringify({ level: 'info', time: new Date().toISOString(), service, msg: line });
      stream.write(`${record}\n`);
      written += record.length;
      if (written < size) return;
      stream.end();
      for (let number = files - 1; number > 0; number -= 1) {
        const older = fileName(folder, number - 1);
        if (existsSync(older)) renameSync(older, fileName(folder, number));
      }
      stream = open();
      written = 0;
    },
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => stream.end(resolve)),
  };
}

/** The lines in `folder` that contain `text`, the oldest first. */
export async function* findLines(folder: string, text: string): AsyncGenerator<string> {
  for (let number = limits.files - 1; number >= 0; number -= 1) {
    const file = fileName(folder, number);
    if (!existsSync(file)) continue;
    for await (const line of createInterface(createReadStream(file))) if (line.includes(text)) yield line;
  }
}
