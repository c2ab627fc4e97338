/** `node loadtest/bench/run.ts [stack|command]` prints the tables of the benchmarks, for BENCHMARKS.md. */
import { machine } from '../machine/environment.ts';
import { program } from '../program.ts';
import { measureCommand } from './command.ts';
import { type Report, type Rounds, toMarkdown } from './measure.ts';
import { measureStack } from './stack.ts';

const benchmarks: Record<string, (rounds: Rounds) => Promise<Report>> = {
  stack: measureStack,
  command: measureCommand,
};
const rounds = { count: 5, seconds: 2 };

await program(async () => {
  const named = process.argv.slice(2);
  const unknown = named.find((name) => !Object.hasOwn(benchmarks, name));
  if (unknown)
    throw new Error(`There is no benchmark ${unknown}; there are ${Object.keys(benchmarks).join(', ')}.`);
  const facts = { taken: new Date().toISOString().slice(0, 16), ...machine() };
  for (const [name, measure] of Object.entries(benchmarks)) {
    if (named.length === 0 || named.includes(name)) console.log(toMarkdown(await measure(rounds), facts));
  }
});
