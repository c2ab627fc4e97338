/** `node loadtest/run.ts [script …]` runs load scripts against the running stack, or one started for the run. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { findK6, runScript } from './k6.ts';
import { findRunningStack, startOwnStack, type Target } from './target.ts';

const out = join(import.meta.dirname, 'out');
const defaultScripts = ['smoke', 'keepalive'];

async function main(names: string[]): Promise<void> {
  await checkNames(names);
  const k6 = await findK6(console.log);
  // `restart` stops processes, so it never runs against a stack that is in use.
  const restarts = names.includes('restart');
  const running = restarts ? undefined : await findRunningStack(process.env);
  if (!running) console.log('Starting a stack for this run, on free ports.');
  const target = running ?? (await startOwnStack(restarts ? 2 : 1));
  const failed: string[] = [];
  try {
    for (const name of names) {
      console.log(`\n${name}: against ${target.variables.PROXY_URL}`);
      const result = runScript(k6, name, out, target.variables, (text) => process.stdout.write(text));
      if (name === 'restart') await replaceReplicasUntil(result, target);
      const { code } = await result;
      if (code !== 0) failed.push(`${name} (k6 exited with ${code})`);
    }
  } finally {
    await target.stop();
  }
  if (failed.length > 0) throw new Error(`Failed: ${failed.join(', ')}.`);
}

/** @throws Error that lists the existing scripts. */
async function checkNames(names: readonly string[]): Promise<void> {
  const files = await readdir(join(import.meta.dirname, 'scripts'));
  const scripts = files.filter((file) => file.endsWith('.ts')).map((file) => file.replace('.ts', ''));
  const unknown = names.find((name) => !scripts.includes(name));
  if (unknown) throw new Error(`There is no load script ${unknown}; there are ${scripts.join(', ')}.`);
}

/** Replaces the replicas one by one, again and again, until `done` settles. */
async function replaceReplicasUntil(done: Promise<unknown>, target: Target): Promise<void> {
  let running = true;
  const finished = done.finally(() => {
    running = false;
  });
  while (running) await Promise.race([target.replaceNext?.(), finished]);
}

// On Ctrl-C k6 stops too and writes its reports; then the stack is stopped. A second Ctrl-C exits at once.
process.once('SIGINT', () => {});
await main(process.argv.length > 2 ? process.argv.slice(2) : defaultScripts).catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
