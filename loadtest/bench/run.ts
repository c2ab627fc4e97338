/**
 * `node loadtest/bench/run.ts [--write] [name …]`: the benchmarks, all or the named ones. Tables on the terminal,
 * and `<name>.json`, `<name>.md` and `<name>.svg` in `out/`; `--write` puts the tables into BENCHMARKS.md.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { plot } from './plot.ts';
import { holds, machine, markdown, type Result, text } from './report.ts';

const names = ['proxy', 'expander', 'agent', 'tasks', 'resource', 'start'];
const out = join(import.meta.dirname, 'out');
const document = join(import.meta.dirname, '..', '..', 'BENCHMARKS.md');

interface Benchmark {
  title: string;
  run(): Promise<Result[]>;
}

const { values, positionals } = parseArgs({
  options: { write: { type: 'boolean' } },
  allowPositionals: true,
});
const unknown = positionals.find((name) => !names.includes(name));
if (unknown) {
  console.error(`There is no benchmark ${unknown}; there are ${names.join(', ')}.`);
  process.exit(1);
}

await mkdir(out, { recursive: true });
const about = machine();
console.log(
  Object.entries(about)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n'),
);
const sections: string[] = [];
const missed: string[] = [];
for (const name of positionals.length > 0 ? positionals : names) {
  const { title, run }: Benchmark = await import(`./benchmarks/${name}.ts`);
  const started = Date.now();
  console.log(`\n== ${title}`);
  const results = await run();
  const section = markdown(title, results);
  sections.push(section);
  missed.push(
    ...results.flatMap(({ title, goals }) =>
      goals.filter((goal) => !holds(goal)).map(({ text }) => `${title}: ${text}`),
    ),
  );
  console.log(`${text(results)}\n  (${Math.round((Date.now() - started) / 1_000)} s)`);
  await writeFile(
    join(out, `${name}.json`),
    `${JSON.stringify({ machine: about, title, results }, null, 2)}\n`,
  );
  await writeFile(join(out, `${name}.md`), section);
  await writeFile(join(out, `${name}.svg`), plot(title, results));
}
if (missed.length > 0) console.log(`\nGoals not met:\n${missed.map((line) => `  ${line}\n`).join('')}`);
console.log(`\nReports: ${out}/*.{json,md,svg}`);
if (values.write) await writeDocument();

/** Replaces what stands behind the mark in BENCHMARKS.md. */
async function writeDocument(): Promise<void> {
  const mark = '<!-- Below: written by `node loadtest/bench/run.ts --write`. -->\n';
  const [prose = ''] = (await readFile(document, 'utf8')).split(mark);
  const list = Object.entries(about)
    .map(([name, value]) => `- ${name}: ${value}\n`)
    .join('');
  await writeFile(document, `${prose}${mark}\n${list}\n${sections.join('\n')}`);
}
