/** `node loadtest/bench/run.ts [stack|command]` prints the tables of BENCHMARKS.md. */
import os from 'node:os';
import { program } from '../program.ts';
import { measureCommand } from './command.ts';
import { type Report, toMarkdown } from './measure.ts';
import { measureStack } from './stack.ts';

const benchmarks: Record<string, () => Promise<Report>> = {
  stack: measureStack,
  command: measureCommand,
};
const machine = {
  processor: `${os.availableParallelism()} x ${os.cpus()[0]?.model.trim()}`,
  memory: `${Math.round(os.totalmem() / 2 ** 30)} GiB`,
  system: `${os.type()} ${os.release()}`,
  node: process.version,
};

await program(async () => {
  const named = process.argv.slice(2);
  const unknown = named.find((name) => !Object.hasOwn(benchmarks, name));
  if (unknown)
    throw new Error(`Unknown benchmark ${unknown}. Choose from ${Object.keys(benchmarks).join(', ')}.`);
  const facts = { taken: new Date().toISOString().slice(0, 16), ...machine };
  for (const [name, measure] of Object.entries(benchmarks)) {
    if (named.length === 0 || named.includes(name)) console.log(toMarkdown(await measure(), facts));
  }
});
