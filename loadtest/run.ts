/**
 * `node loadtest/run.ts [script …] [-- k6 options]` runs load scripts against the running stack, or starts a stack. Exits
 * with 0 if all scripts passed, 1 if any failed, 75 (EX_TEMPFAIL) if the machine was too busy for a verdict.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asTable, compareMedians } from './compare.ts';
import { startControl } from './control-server.ts';
import { ensureK6, k6Files, runScript } from './k6.ts';
import { program } from './program.ts';
import { defaults } from './scripts/modules/settings.ts';
import { findRunningStack, startOwnStack, type Target } from './target.ts';
import { judge, type K6Summary, type Outcome } from './verdict.ts';

const exitCodes = { passed: 0, failed: 1, busy: 75 };
/** Each run creates a subfolder named `<time>-<script>`. */
const runsFolder = join(import.meta.dirname, 'out');

async function main(): Promise<void> {
  const given = process.argv.slice(2);
  const end = given.includes('--') ? given.indexOf('--') : given.length;
  const names = end > 0 ? given.slice(0, end) : ['smoke', 'keepalive'];
  const scripts = Object.keys(defaults);
  const unknown = names.find((name) => !scripts.includes(name));
  if (unknown) throw new Error(`Unknown load script ${unknown}. Choose from ${scripts.join(', ')}.`);
  // Fail before the run.
  if (process.env.COMPARE) await readSummary(join(runsFolder, process.env.COMPARE));
  await ensureK6();
  const options = [...metricsOutput(process.env), ...given.slice(end + 1)];
  const running = await findRunningStack(process.env);
  if (!running) console.log('Starting a stack for this run on free ports.');
  await using target = running ?? (await startOwnStack());
  const outcomes: Outcome[] = [];
  for (const name of names) {
    console.log(`\nRunning ${name} against ${target.address}`);
    outcomes.push(await measure(name, target, options));
  }
  const worst = (['failed', 'busy'] as const).find((outcome) => outcomes.includes(outcome)) ?? 'passed';
  process.exitCode = exitCodes[worst];
}

/** Returns k6's options for OBSERVE=1, and sets k6's variables in `env`. */
function metricsOutput(env: NodeJS.ProcessEnv): string[] {
  if (!env.OBSERVE || env.OBSERVE === '0') return [];
  env.K6_PROMETHEUS_RW_SERVER_URL ||= 'http://127.0.0.1:9090/api/v1/write';
  env.K6_PROMETHEUS_RW_TREND_STATS ||= 'med,p(95),p(99),p(99.9),max';
  env.K6_PROMETHEUS_RW_PUSH_INTERVAL ||= '1s';
  console.log(`Sending metrics to ${env.K6_PROMETHEUS_RW_SERVER_URL} (see "make observe REMOTE_WRITE=1").`);
  return ['--out', 'experimental-prometheus-rw'];
}

/** Runs a script with a control and judges the run. */
async function measure(script: string, target: Target, options: string[]) {
  const id = `${new Date().toISOString().slice(0, 19).replaceAll(':', '')}-${script}`;
  const out = join(runsFolder, id);
  await using control = await startControl();
  const variables = { ...target.variables, CONTROL_URL: control.url };
  const args = ['--tag', `testid=${id}`, ...options];
  const { code } = await runScript({ script, out, variables, args });
  // 99 means that a threshold failed.
  if (code !== 0 && code !== 99) {
    console.error(`${script}: k6 exited with ${code}.`);
    return 'failed';
  }
  const summary = await readSummary(out);
  const { outcome, reason, others } = judge(summary);
  console.log(`\n${script} ${reason}.`);
  if (others.length > 0) console.log(`These failed as well: ${others.join(', ')}.`);
  console.log(`Report: ${join(out, k6Files.html)}`);
  const { COMPARE } = process.env;
  if (COMPARE) {
    const before = await readSummary(join(runsFolder, COMPARE));
    console.log(`\nCompared with ${COMPARE}:\n${asTable(compareMedians(before, summary))}`);
  }
  return outcome;
}

/** @throws Error if the folder has no summary of a run. */
async function readSummary(folder: string): Promise<K6Summary> {
  const path = join(folder, k6Files.summary);
  const text = await readFile(path, 'utf8').catch(() => {
    throw new Error(
      `${path} cannot be read. COMPARE is a folder in ${runsFolder}, such as 2026-11-28T120000-tasks.`,
    );
  });
  return JSON.parse(text);
}

// On Ctrl-C, k6 stops and writes its reports, then the stack stops. A second Ctrl-C exits immediately.
process.once('SIGINT', () => {});
await program(main);
