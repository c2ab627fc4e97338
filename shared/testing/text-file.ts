import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let folder: string | undefined;
let count = 0;

/** Writes `text` to a new file and returns its path. The file is deleted when this process ends. */
export function textFile(text: string): string {
  if (folder === undefined) {
    const made = mkdtempSync(join(tmpdir(), 'longhand-files-'));
    // The stack must read these files as another user when root runs the tests.
    chmodSync(made, 0o755);
    process.once('exit', () => rmSync(made, { recursive: true, force: true }));
    folder = made;
  }
  const path = join(folder, `${count++}`);
  writeFileSync(path, text);
  return path;
}
