/**
 * `node loadtest/run.ts [script …] [-- options of k6]` runs load scripts against the running stack, or one started for
 * the run. Exits with 0 if all passed, 1 if one failed, 75 (EX_TEMPFAIL) if the machine was too busy to tell.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { findK6 } from './k6.ts';
import { k6Options } from './k6-options.ts';
import { program } from './program.ts';
import { measureRun } from './runs/measure-run.ts';
import type { Verdict } from './runs/verdict.ts';
import { findRunningStack, startOwnStack } from './target.ts';

const defaultScripts = ['smoke', 'keepalive'];

const exitCodes = { passed: 0, failed: 1, busy: 75 };

async function main(): Promise<void> {
  const [names, args] = readArguments(process.argv.slice(2));
  await checkNames(names);
  const k6 = await findK6(console.log);
  const options = await k6Options(process.env, args);
  // `restart` stops processes, so it never runs against a stack that is in use; `soak` watches processes.
  const ownProcesses = names.some((name) => name === 'restart' || name === 'soak');
  const running = ownProcesses ? undefined : await findRunningStack(process.env);
  if (!running) console.log('Starting a stack for this run, on free ports.');
  await using target = running ?? (await startOwnStack(names.includes('restart') ? 2 : 1));
  const outcomes: Verdict['outcome'][] = [];
  for (const name of names) {
    console.log(`\n${name}: against ${target.address}`);
    outcomes.push(await measureRun(k6, name, target, options));
  }
  const worst = (['failed', 'busy'] as const).find((outcome) => outcomes.includes(outcome)) ?? 'passed';
  process.exitCode = exitCodes[worst];
}

/** The names of scripts, and what follows `--`. */
function readArguments(given: string[]): [string[], string[]] {
  const end = given.includes('--') ? given.indexOf('--') : given.length;
  return [end > 0 ? given.slice(0, end) : defaultScripts, given.slice(end + 1)];
}

/** @throws Error that lists the existing scripts. */
async function checkNames(names: readonly string[]): Promise<void> {
  const files = await readdir(join(import.meta.dirname, 'scripts'));
  const scripts = files.filter((file) => file.endsWith('.ts')).map((file) => file.replace('.ts', ''));
  const unknown = names.find((name) => !scripts.includes(name));
  if (unknown) throw new Error(`There is no load script ${unknown}; there are ${scripts.join(', ')}.`);
}

// On Ctrl-C k6 stops too and writes its reports; then the stack is stopped. A second Ctrl-C exits at once.
process.once('SIGINT', () => {});
await program(main);
