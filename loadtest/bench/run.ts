/**
 * `node loadtest/bench/run.ts [--write] [--rounds 5] [--seconds 2] [stack|command]` prints the tables of the benchmarks;
 * `--write` also puts them into BENCHMARKS.md.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { machine } from '../machine/environment.ts';
import { program } from '../program.ts';
import { measureCommand } from './command.ts';
import { type Report, type Rounds, toMarkdown } from './measure.ts';
import { measureStack } from './stack.ts';

const benchmarks: Record<string, (rounds: Rounds) => Promise<Report>> = {
  stack: measureStack,
  command: measureCommand,
};
const document = join(import.meta.dirname, '..', '..', 'BENCHMARKS.md');

await program(async () => {
  const { values, positionals } = parseArgs({
    options: {
      write: { type: 'boolean' },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '2' },
    },
    allowPositionals: true,
  });
  const unknown = positionals.find((name) => !Object.hasOwn(benchmarks, name));
  if (unknown)
    throw new Error(`There is no benchmark ${unknown}; there are ${Object.keys(benchmarks).join(', ')}.`);
  const facts = { taken: new Date().toISOString().slice(0, 16), ...machine() };
  const rounds = { count: Number(values.rounds), seconds: Number(values.seconds) };
  for (const [name, measure] of Object.entries(benchmarks)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    const section = toMarkdown(await measure(rounds), facts);
    console.log(`\n${section}`);
    if (values.write) await replaceSection(section);
  }
});

/** Puts a section in the place of the one with its title, or at the end. */
async function replaceSection(section: string): Promise<void> {
  const [title] = section.split('\n');
  const sections = (await readFile(document, 'utf8')).split(/^(?=## )/m);
  const replaced = sections.map((old) => (old.startsWith(`${title}\n`) ? `${section}\n` : old));
  if (!replaced.includes(`${section}\n`)) replaced.push(section);
  await writeFile(document, `${replaced.join('').trim()}\n`);
}
