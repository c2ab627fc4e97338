import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startControl } from '../control-server.ts';
import { type K6, k6Files, runScript } from '../k6.ts';
import { coresOfOthers, watchCpu } from '../machine/cpu-users.ts';
import { machine, programs } from '../machine/environment.ts';
import { judgeGrowth, watchHoldings } from '../machine/growth.ts';
import { profiles } from '../profiles.ts';
import type { Target } from '../target.ts';
import { type Run, toText } from './report-text.ts';
import { judge, type K6Summary, type Verdict } from './verdict.ts';

/** The reports of all runs, a folder each: `<time>-<commit>-<script>`. */
export const runsFolder = join(import.meta.dirname, '..', 'out');

/**
 * Runs one script with a control beside the stack, judges it, and writes its folder.
 *
 * @param options more options for k6.
 */
export async function measureRun(
  k6: K6,
  script: string,
  target: Target,
  options: string[],
): Promise<Verdict['outcome']> {
  const started = new Date();
  const commit = currentCommit();
  const id = `${started.toISOString().slice(0, 19).replaceAll(':', '')}-${commit}-${script}`;
  const out = join(runsFolder, id);
  const args = ['--tag', `testid=${id}`, ...options];
  const { code, cpu, holdings } = await load(k6, { script, out, args }, target);
  // k6 exits with 0 if it met every threshold, with 99 if it missed one.
  if (code !== 0 && code !== 99) {
    console.error(`${script}: k6 exited with ${code}.`);
    return 'failed';
  }
  const summary: K6Summary = JSON.parse(await readFile(join(out, k6Files.summary), 'utf8'));
  const verdict = judge(summary, coresOfOthers(cpu), judgeGrowth(holdings, growthLimit()));
  const run: Run = { script, seconds: (Date.now() - started.getTime()) / 1_000, cpu, verdict };
  const facts = {
    ...{ id, started, commit, target: target.address },
    machine: { k6: k6.version, ...machine(), ...programs() },
    settings: { ...settings(process.env), options: options.join(' ') },
  };
  await writeFile(join(out, 'run.json'), `${JSON.stringify({ ...facts, ...run }, null, 2)}\n`);
  console.log(`${toText(run)}\nReport: ${join(out, k6Files.html)}`);
  return verdict.outcome;
}

/** Lets k6 run the script, and watches the machine meanwhile. */
async function load(k6: K6, run: { script: string; out: string; args: string[] }, target: Target) {
  await using control = await startControl();
  const cpu = watchCpu();
  const holdings = watchHoldings(run.script === 'soak' ? target.processes : []);
  const running = runScript(k6, { ...run, variables: { ...target.variables, CONTROL_URL: control.url } });
  if (run.script === 'restart') await replaceReplicas(target, running);
  const { code } = await running;
  return { code, cpu: cpu.stop(), holdings: holdings.stop() };
}

/** Replaces the replicas of the tasks one by one, again and again, until k6 ends. */
async function replaceReplicas({ processes }: Target, running: Promise<unknown>): Promise<void> {
  const replicas = processes.filter(({ name }) => name === 'tasks');
  for (let i = 0; !(await Promise.race([running, replicas[i % replicas.length]?.restart()])); i++);
}

/** The same in each profile. */
const growthLimit = () => Number(process.env.LOAD_GROWTH || profiles.full?.soak.growth);

/** The commit that is checked out, with `+` if files have changed since; `none` outside of a repository. */
function currentCommit(): string {
  const args = ['describe', '--always', '--exclude=*', '--dirty=+'];
  const { stdout } = spawnSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8' });
  return stdout?.trim() || 'none';
}

/** The variables that decide what a run does, none of which is a secret. */
function settings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const wanted = /^(LOAD_\w+|K6_(VUS|DURATION|ITERATIONS|STAGES)|(PROXY|EXPANDER|TASKS|SHORTENER)_URL)$/;
  return Object.fromEntries(Object.entries(env).filter(([name, value]) => value && wanted.test(name)));
}
