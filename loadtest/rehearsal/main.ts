/**
 * `node loadtest/rehearsal/main.ts [row …]` starts the stack in containers, causes the faults of the table on it, and
 * writes a report. Exits with 0 if every promise was kept, 1 if one was broken, 2 without a Docker engine.
 */
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { engineAnswers } from '@longhand/shared/testing/engine.ts';
import { program } from '../program.ts';
import { startContainers } from './containers.ts';
import { faults } from './faults.ts';
import { describe, rehearse } from './rehearse.ts';

const out = join(import.meta.dirname, '..', 'out');
let stopping = false;

async function main(): Promise<void> {
  const ids = process.argv.slice(2).flatMap((row) => row.split(/[\s,]+/).filter(Boolean));
  const unknown = ids.find((id) => !Object.hasOwn(faults, id));
  if (unknown) throw new Error(`There is no row ${unknown}; there are ${Object.keys(faults).join(', ')}.`);
  if (!(await engineAnswers())) {
    console.error('A rehearsal runs in containers, and no Docker engine answers: install or start Docker.');
    process.exitCode = 2;
    return;
  }
  await mkdir(out, { recursive: true });
  const report = await open(join(out, 'rehearsal.md'), 'w');
  await report.write(`# Rehearsal: ${new Date().toISOString().slice(0, 16)}\n\n`);
  console.log('Starting a stack for this rehearsal, on free ports.');
  const stack = await startContainers();
  let [rows, broken] = [0, 0];
  try {
    for (const [id, fault] of Object.entries(faults)) {
      if (stopping || (ids.length > 0 && !ids.includes(id))) continue;
      const drill = await rehearse(fault, stack);
      const line = describe(id, drill);
      console.log(line);
      await report.write(`    ${line}\n`);
      rows += 1;
      if (drill.broken.length > 0) broken += 1;
    }
  } finally {
    await stack.stop();
    await report.close();
  }
  console.log(`${rows} rows, ${broken} broken; report: loadtest/out/rehearsal.md`);
  if (broken > 0) process.exitCode = 1;
}

// On Ctrl-C the current row is the last, so that its fault is taken back. A second Ctrl-C exits at once.
process.once('SIGINT', () => {
  stopping = true;
});
await program(main);
