/**
 * `node loadtest/run.ts [script …] [-- options of k6]` runs load scripts against the running stack, or one started for
 * the run. Exits with 0 if all passed, 1 if one failed, 75 (EX_TEMPFAIL) if the machine was too busy to tell.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { findK6 } from './k6.ts';
import { program } from './program.ts';
import { measureRun } from './runs/measure-run.ts';
import type { Verdict } from './runs/verdict.ts';
import { findRunningStack, startOwnStack } from './target.ts';

const exitCodes = { passed: 0, failed: 1, busy: 75 };

async function main(): Promise<void> {
  const given = process.argv.slice(2);
  const end = given.includes('--') ? given.indexOf('--') : given.length;
  const names = end > 0 ? given.slice(0, end) : ['smoke', 'keepalive'];
  await checkNames(names);
  const k6 = await findK6();
  const options = k6Options(process.env, given.slice(end + 1));
  // `restart` stops processes, so it never runs on a stack in use; `soak` watches processes.
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

/** @throws Error that lists the existing scripts. */
async function checkNames(names: readonly string[]): Promise<void> {
  const files = await readdir(join(import.meta.dirname, 'scripts'));
  const scripts = files.filter((file) => file.endsWith('.ts')).map((file) => file.replace('.ts', ''));
  const unknown = names.find((name) => !scripts.includes(name));
  if (unknown) throw new Error(`There is no load script ${unknown}; there are ${scripts.join(', ')}.`);
}

/** Sets in `env` what `--vus`, DASHBOARD and OBSERVE mean for k6, and returns its options. */
function k6Options(env: NodeJS.ProcessEnv, args: string[]): string[] {
  const isOn = (value = '') => value !== '' && value !== '0';
  // k6 itself ignores it in a script with scenarios.
  const users = /(?:^| )(?:--vus|-u)[ =](\d+)/.exec(args.join(' '))?.[1];
  if (users) env.K6_VUS = users;
  if (isOn(env.DASHBOARD)) {
    env.K6_WEB_DASHBOARD_HOST ||= '127.0.0.1';
    env.K6_WEB_DASHBOARD_PORT ||= '5665';
    const address = `${env.K6_WEB_DASHBOARD_HOST}:${env.K6_WEB_DASHBOARD_PORT}`;
    console.log(`Live dashboard: http://${address} (k6 ends once its page is closed)`);
  }
  if (!isOn(env.OBSERVE)) return args;
  env.K6_PROMETHEUS_RW_SERVER_URL ||= 'http://127.0.0.1:9090/api/v1/write';
  env.K6_PROMETHEUS_RW_TREND_STATS ||= 'med,p(95),p(99),p(99.9),max';
  env.K6_PROMETHEUS_RW_PUSH_INTERVAL ||= '1s';
  console.log(`Metrics go to ${env.K6_PROMETHEUS_RW_SERVER_URL} ("make observe" starts a Prometheus there).`);
  return ['--out', 'experimental-prometheus-rw', ...args];
}

// On Ctrl-C k6 stops and writes its reports, then the stack stops. A second Ctrl-C exits at once.
process.once('SIGINT', () => {});
await program(main);
