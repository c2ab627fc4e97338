/** `node loadtest/run.ts [script …]`: the load scripts, against the stack that is up or one started for the run. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { findK6, runScript } from './k6.ts';
import { ownStack, runningStack, type Target } from './target.ts';

const out = join(import.meta.dirname, 'out');
const usual = ['smoke', 'keepalive'];

async function main(names: string[]): Promise<void> {
  await checkNames(names);
  const k6 = await findK6(console.log);
  // Replicas are replaced by ending processes: those of a stack of our own, never those of one in use.
  const replacing = names.includes('restart');
  const running = replacing ? undefined : await runningStack(process.env);
  if (!running) console.log('Starting a stack for this run, on free ports.');
  const target = running ?? (await ownStack(replacing ? 2 : 1));
  const failed: string[] = [];
  try {
    for (const name of names) {
      console.log(`\n${name}: against ${target.variables.PROXY_URL}`);
      const write = (text: string) => process.stdout.write(text);
      const code = await during(name, target, () => runScript(k6, name, out, target.variables, write));
      if (code !== 0) failed.push(`${name} (k6 ended with ${code})`);
    }
  } finally {
    await target.stop();
  }
  if (failed.length > 0) throw new Error(`Failed: ${failed.join(', ')}.`);
}

/** @throws Error that lists the scripts there are. */
async function checkNames(names: readonly string[]): Promise<void> {
  const files = await readdir(join(import.meta.dirname, 'scripts'));
  const scripts = files.filter((file) => file.endsWith('.ts')).map((file) => file.replace('.ts', ''));
  const unknown = names.find((name) => !scripts.includes(name));
  if (unknown) throw new Error(`There is no load script ${unknown}; there are ${scripts.join(', ')}.`);
}

/** While `restart` runs, the replicas are replaced one by one, again and again. */
async function during(name: string, target: Target, run: () => Promise<number | null>) {
  if (name !== 'restart') return run();
  let over = false;
  const running = run().finally(() => {
    over = true;
  });
  while (!over) await Promise.race([target.replaceNext?.(), running]);
  return running;
}

// k6 hears Ctrl-C as well and ends with its reports; then the stack is stopped. A second one ends all at once.
process.once('SIGINT', () => {});
await main(process.argv.length > 2 ? process.argv.slice(2) : usual).catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
