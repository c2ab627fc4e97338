import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let folder: string | undefined;
let count = 0;

/** Writes `text` into a file of its own, which is removed when the process ends; returns its path. */
export function textFile(text: string): string {
  if (folder === undefined) {
    const made = mkdtempSync(join(tmpdir(), 'longhand-files-'));
    // The stack of a root runs as another user.
    chmodSync(made, 0o755);
    process.once('exit', () => rmSync(made, { recursive: true, force: true }));
    folder = made;
  }
  const path = join(folder, `${count++}`);
  writeFileSync(path, text);
  return path;
}
