import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

const root = join(import.meta.dirname, '..');

/** Names of the rows to rehearse. By default, all rows. */
const rows = (process.env.ROWS ?? '').split(/[\s,]+/).filter(Boolean);
const promises = readFileSync(join(root, 'docs/PROMISES.md'), 'utf8');
const unknown = rows.filter((row) => !promises.includes(`| ${row} |`));
if (unknown.length > 0) throw new Error(`PROMISES.md has no row ${unknown.join(', ')}.`);
// Fails with Docker's error message if no engine is running.
execFileSync('docker', ['version'], { stdio: ['ignore', 'ignore', 'inherit'] });

/** `make rehearse` runs one row after another, on one stack. */
export default defineConfig({
  test: {
    name: 'rehearsal',
    root,
    include: ['acceptance/rehearsal/rows/*.test.ts'],
    testNamePattern: rows.length > 0 ? `^(${rows.join('|')})$` : undefined,
    fileParallelism: false,
    isolate: false,
    testTimeout: 1_200_000,
    reporters: ['verbose', 'junit'],
    outputFile: { junit: 'out/rehearsal.xml' },
  },
});
