/**
 * `node loadtest/bench/run.ts [--write] [name …]` runs the named benchmarks, or all. It prints tables and writes
 * `<name>.json`, `<name>.md` and `<name>.svg` to `out/<time>-<commit>-<names>/`; `--write` also puts the tables into
 * BENCHMARKS.md, and leaves those of benchmarks that did not run.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeIndex } from '../runs/index-page.ts';
import { currentCommit, listRuns, newRunId } from '../runs/run-folder.ts';
import { type BenchRun, benchFolder } from './comparison.ts';
import { plot } from './plot.ts';
import { environment, isMet, type Result, toMarkdown, toText } from './report.ts';

interface Benchmark {
  title: string;
  run(): Promise<Result[]>;
}

const names = ['stack', 'edge', 'proxy', 'compression', 'expander', 'agent', 'tasks', 'command', 'start'];
const document = join(import.meta.dirname, '..', '..', 'BENCHMARKS.md');

const { values, positionals } = parseArgs({
  options: { write: { type: 'boolean' } },
  allowPositionals: true,
});
const unknown = positionals.find((name) => !names.includes(name));
if (unknown) {
  console.error(`There is no benchmark ${unknown}; there are ${names.join(', ')}.`);
  process.exit(1);
}

const chosen = positionals.length > 0 ? positionals : names;
const id = newRunId(positionals.join('+') || 'all', new Date(), currentCommit());
const out = join(benchFolder, id);
await mkdir(out, { recursive: true });
const machine = environment();
const all: Record<string, Result[]> = {};
const machineList = Object.entries(machine).map(([name, value]) => `- ${name}: ${value}\n`);
console.log(machineList.join(''));
const sections: string[] = [];
const missed: string[] = [];
for (const name of chosen) {
  const { title, run }: Benchmark = await import(`./benchmarks/${name}.ts`);
  console.log(`\n== ${title}`);
  const started = Date.now();
  const results = await run();
  console.log(`${toText(results)}\n  (${Math.round((Date.now() - started) / 1_000)} s)`);
  all[name] = results;
  const section = toMarkdown(title, results, machine);
  sections.push(section);
  for (const { title, goals } of results) {
    for (const goal of goals) if (!isMet(goal)) missed.push(`  ${title}: ${goal.text}\n`);
  }
  await writeFile(join(out, `${name}.json`), `${JSON.stringify({ machine, title, results }, null, 2)}\n`);
  await writeFile(join(out, `${name}.md`), section);
  await writeFile(join(out, `${name}.svg`), plot(title, results));
}
await writeFile(
  join(out, 'run.json'),
  JSON.stringify({ id, script: chosen.join('+'), machine, results: all } satisfies BenchRun),
);
const index = await writeIndex(
  'Benchmarks',
  benchFolder,
  (await listRuns<BenchRun>(benchFolder)).map(({ id, script, results }) => {
    const goals = Object.values(results).flatMap((results) => results.flatMap(({ goals }) => goals));
    const met = goals.filter(isMet).length;
    return {
      link: `${id}/${script.split('+')[0]}.svg`,
      title: id,
      conclusion: `${met} of ${goals.length} goals met`,
      outcome: met === goals.length ? 'passed' : 'failed',
    };
  }),
);
if (missed.length > 0) console.log(`\nGoals not met:\n${missed.join('')}`);
console.log(`\nReports: ${out}/*.{json,md,svg}\nLatest runs: ${index}`);

if (values.write) {
  const marker = '<!-- Below: written by `node loadtest/bench/run.ts --write`. -->\n';
  const [prose = '', old = ''] = (await readFile(document, 'utf8')).split(marker);
  await writeFile(document, `${prose}${marker}\n${await merge(sections, old)}`);
}

/** The sections of this run and the others of `old`, in the order of `names`; those of benchmarks that are gone, go. */
async function merge(sections: readonly string[], old: string): Promise<string> {
  const titleOf = (section: string) => section.slice(0, section.indexOf('\n'));
  const before = old.split(/^(?=## )/m).map((section) => `${section.trim()}\n`);
  const all = new Map([...before, ...sections].map((section) => [titleOf(section), section]));
  const benchmarks: Benchmark[] = await Promise.all(names.map((name) => import(`./benchmarks/${name}.ts`)));
  return benchmarks.flatMap(({ title }) => all.get(`## ${title}`) ?? []).join('\n');
}
