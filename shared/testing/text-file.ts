import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let root: string | undefined;
let count = 0;

/** Returns a path for a new file. The file is deleted when this process ends. */
function newPath(): string {
  if (root === undefined) {
    const made = mkdtempSync(join(tmpdir(), 'longhand-files-'));
    // The stack must read these files as another user when root runs the tests.
    chmodSync(made, 0o755);
    const remove = () => rmSync(made, { recursive: true, force: true });
    process.once('exit', remove);
    // Vitest ends its workers with SIGTERM.
    process.once('SIGTERM', () => {
      remove();
      process.kill(process.pid, 'SIGTERM');
    });
    root = made;
  }
  return join(root, `${count++}`);
}

/** Writes `text` to a new file and returns its path. The file is deleted when this process ends. */
export function textFile(text: string): string {
  const path = newPath();
  writeFileSync(path, text);
  return path;
}

/** Creates a folder that only this user can open, and returns its path. The folder is deleted when this process ends. */
export function testFolder(): string {
  const path = newPath();
  mkdirSync(path, { mode: 0o700 });
  return path;
}
