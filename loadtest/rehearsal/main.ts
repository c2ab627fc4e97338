/**
 * `node loadtest/rehearsal/main.ts native|containers|kubernetes [row …]` causes the faults of the table on the running
 * stack, or on one that it starts, and writes a report.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findK6 } from '../k6.ts';
import { program } from '../program.ts';
import { findRunningStack } from '../target.ts';
import { findContainers, startContainers } from './containers.ts';
import { faults } from './faults.ts';
import { startKubernetes } from './kubernetes.ts';
import { findNative, startNative } from './native.ts';
import { type Result, rehearse } from './rehearse.ts';
import { html, line, markdown, verdict } from './report.ts';
import type { RehearsedStack } from './stack.ts';

const out = join(import.meta.dirname, '..', 'out');
/** How to find the stack of a kind that runs, unless `start` does, and how to start one. */
const stacks: Record<string, Known> = {
  native: { find: findNative, start: startNative },
  containers: { find: findContainers, start: startContainers },
  kubernetes: { start: startKubernetes },
};
interface Known {
  find?(urls: RehearsedStack['urls']): Promise<RehearsedStack | undefined>;
  start(): Promise<RehearsedStack>;
}

async function main(): Promise<void> {
  const [kind = '', ...rows] = process.argv.slice(2);
  const ids = rows.flatMap((row) => row.split(/[\s,]+/)).filter(Boolean);
  if (!process.env.LONGHAND_REHEARSAL) {
    throw new Error(
      'A rehearsal kills and damages what runs. If that is what you want: LONGHAND_REHEARSAL=1 make rehearse',
    );
  }
  const known = stacks[kind];
  if (!known) throw new Error(`${kind}: the stacks are native, containers and kubernetes.`);
  const unknown = ids.find((id) => !faults.some((fault) => fault.id === id));
  if (unknown)
    throw new Error(`There is no row ${unknown}; there are ${faults.map(({ id }) => id).join(', ')}.`);
  const short = process.env.LOAD_PROFILE === 'short';
  const chosen = faults.filter((fault) => (ids.length > 0 ? ids.includes(fault.id) : !short || fault.short));
  const k6 = await findK6(console.log);
  const stack = await runningOrStarted(known);
  const results: Result[] = [];
  try {
    for (const fault of chosen) {
      const result = await rehearse(fault, { k6, stack, short });
      results.push(result);
      console.log(line(result));
    }
  } finally {
    await stack.stop();
    const title = `Rehearsal: ${kind}, ${new Date().toISOString().slice(0, 16)}`;
    await mkdir(out, { recursive: true });
    await writeFile(join(out, `rehearsal-${kind}.md`), markdown(title, results));
    await writeFile(join(out, `rehearsal-${kind}.html`), html(title, results));
  }
  const broken = results.filter((result) => verdict(result) === 'BROKEN');
  console.log(
    `${results.length} rows, ${broken.length} broken; reports: loadtest/out/rehearsal-${kind}.{html,md}`,
  );
  if (broken.length > 0) process.exitCode = 1;
}

async function runningOrStarted({ find, start }: Known): Promise<RehearsedStack> {
  if (!find) return start();
  await using running = await findRunningStack(process.env);
  const { PROXY_URL = '', EXPANDER_URL = '', TASKS_URL = '' } = running?.variables ?? {};
  const urls = { proxy: PROXY_URL, expander: EXPANDER_URL, tasks: TASKS_URL };
  const found = running && (await find(urls));
  if (!found) console.log('Starting a stack for this rehearsal, on free ports.');
  return found ?? start();
}

// On Ctrl-C the current row ends first, so that its fault is taken back. A second Ctrl-C exits at once.
process.once('SIGINT', () => {});
await program(main);
