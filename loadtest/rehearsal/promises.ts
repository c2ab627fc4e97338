/** `node loadtest/rehearsal/promises.ts` writes PROMISES.md. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { markdownTable } from '../table.ts';
import { groups, tested } from './faults.ts';

export const promisesFile = join(import.meta.dirname, '..', '..', 'PROMISES.md');

const head = `# Promises

What this stack does when something breaks. \`make rehearse\` causes each of these faults on a stack under load, in
containers, and judges the promise. None of them may lose a write that was acknowledged.
\`node loadtest/rehearsal/promises.ts\` writes this file from the list in
[faults.ts](loadtest/rehearsal/faults.ts), and a test compares them.
`;

/** The text of PROMISES.md. */
export function promises(): string {
  const rehearsed = groups.map(({ title, faults }) => {
    const rows = faults.map(({ id, fault, promise }) => [id, fault, promise]);
    return `\n## ${title}\n\n${leftAligned([['row', 'fault', 'promise'], ...rows])}\n`;
  });
  const rows = tested.map(({ fault, promise, tests }) => [
    fault,
    promise,
    tests.map((test) => `[${test}](${test})`).join(', '),
  ]);
  const rest = `\n## Held by tests\n\n${leftAligned([['fault', 'promise', 'test'], ...rows])}\n`;
  return `${head}${rehearsed.join('')}${rest}`;
}

const leftAligned = (rows: string[][]) => markdownTable(rows).replaceAll('--:', '---');

if (import.meta.main) writeFileSync(promisesFile, promises());
