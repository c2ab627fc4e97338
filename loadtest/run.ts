/**
 * `node loadtest/run.ts [script …] [-- options of k6]` runs load scripts against the running stack, or one started for
 * the run. Exits with 0 if all passed, 1 if one failed, 75 (EX_TEMPFAIL) if the machine was too busy to tell.
 */
import { spawnSync } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startControl } from './control-server.ts';
import { findK6, type K6, k6Files, runScript, runsFolder } from './k6.ts';
import { machine } from './machine/environment.ts';
import { leaks, watchHoldings } from './machine/growth.ts';
import { profiles } from './profiles.ts';
import { program } from './program.ts';
import { findRunningStack, startOwnStack, type Target } from './target.ts';
import { judge, type Verdict } from './verdict.ts';

const exitCodes = { passed: 0, failed: 1, busy: 75 };

async function main(): Promise<void> {
  const given = process.argv.slice(2);
  const end = given.includes('--') ? given.indexOf('--') : given.length;
  const names = end > 0 ? given.slice(0, end) : ['smoke', 'keepalive'];
  await checkNames(names);
  const k6 = await findK6();
  const options = [...outputs(process.env), ...given.slice(end + 1)];
  // `soak` watches processes.
  const running = names.includes('soak') ? undefined : await findRunningStack(process.env);
  if (!running) console.log('Starting a stack for this run, on free ports.');
  await using target = running ?? (await startOwnStack());
  const outcomes: Verdict['outcome'][] = [];
  for (const name of names) {
    console.log(`\n${name}: against ${target.address}`);
    outcomes.push(await measure(k6, name, target, options));
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

/** Sets in `env` what DASHBOARD and OBSERVE mean for k6, and returns its options for them. */
function outputs(env: NodeJS.ProcessEnv): string[] {
  const isOn = (value = '') => value !== '' && value !== '0';
  if (isOn(env.DASHBOARD)) {
    env.K6_WEB_DASHBOARD_PORT ||= '5665';
    console.log(
      `Live dashboard: http://127.0.0.1:${env.K6_WEB_DASHBOARD_PORT} (k6 ends once its page is closed)`,
    );
  }
  if (!isOn(env.OBSERVE)) return [];
  env.K6_PROMETHEUS_RW_SERVER_URL ||= 'http://127.0.0.1:9090/api/v1/write';
  env.K6_PROMETHEUS_RW_TREND_STATS ||= 'med,p(95),p(99),p(99.9),max';
  env.K6_PROMETHEUS_RW_PUSH_INTERVAL ||= '1s';
  console.log(`Metrics go to ${env.K6_PROMETHEUS_RW_SERVER_URL} (see "make observe REMOTE_WRITE=1").`);
  return ['--out', 'experimental-prometheus-rw'];
}

/** Runs one script with a control beside the stack, writes the folder of its run, and judges it. */
async function measure(k6: K6, script: string, target: Target, options: string[]) {
  const commit = currentCommit();
  const id = `${new Date().toISOString().slice(0, 19).replaceAll(':', '')}-${commit}-${script}`;
  const out = join(runsFolder, id);
  await using control = await startControl();
  const holdings = watchHoldings(script === 'soak' ? target.processes : []);
  const variables = { ...target.variables, CONTROL_URL: control.url };
  const { code } = await runScript(k6, {
    script,
    out,
    variables,
    args: ['--tag', `testid=${id}`, ...options],
  });
  // k6 exits with 0 if it met every threshold, with 99 if it missed one.
  if (code !== 0 && code !== 99) {
    console.error(`${script}: k6 exited with ${code}.`);
    return 'failed';
  }
  // The same in each profile.
  const limit = Number(process.env.LOAD_GROWTH || profiles.full?.soak.growth);
  const summary = JSON.parse(await readFile(join(out, k6Files.summary), 'utf8'));
  const { outcome, reason } = judge(summary, leaks(holdings.stop(), limit));
  const settings = Object.entries(process.env).filter(([name]) => name.startsWith('LOAD_'));
  const facts = { outcome, reason, target: target.address, k6: k6.version, ...machine(), options };
  const run = { ...facts, settings: Object.fromEntries(settings) };
  await writeFile(join(out, k6Files.run), `${JSON.stringify(run, null, 2)}\n`);
  console.log(`\n${script} ${reason}.\nReport: ${join(out, k6Files.html)}`);
  return outcome;
}

/** The commit that is checked out, with `+` if files have changed since; `none` outside of a repository. */
function currentCommit(): string {
  const args = ['describe', '--always', '--exclude=*', '--dirty=+'];
  const { stdout } = spawnSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8' });
  return stdout?.trim() || 'none';
}

// On Ctrl-C k6 stops and writes its reports, then the stack stops. A second Ctrl-C exits at once.
process.once('SIGINT', () => {});
await program(main);
