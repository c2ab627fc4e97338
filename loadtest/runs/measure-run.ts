import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startControl } from '../control-server.ts';
import { type K6, k6Files, runScript } from '../k6.ts';
import type { K6Options } from '../k6-options.ts';
import { coresOfOthers, watchCpu } from '../machine/cpu-users.ts';
import { machine, settingsOf } from '../machine/environment.ts';
import { judgeGrowth, watchHoldings } from '../machine/growth.ts';
import { profiles } from '../profiles.ts';
import type { Target } from '../target.ts';
import { toText } from './report-text.ts';
import { currentCommit, type Run, runsFolder } from './run-folder.ts';
import { judge, type K6Summary, type Verdict } from './verdict.ts';

/** Milliseconds between two looks at what processes hold. */
const holdingsInterval = 2_000;

/** Runs one script with a control beside the stack, judges it, and writes its folder. */
export async function measureRun(
  k6: K6,
  script: string,
  target: Target,
  options: K6Options,
): Promise<Verdict['outcome']> {
  const started = new Date();
  const commit = currentCommit();
  const id = `${started.toISOString().slice(0, 19).replaceAll(':', '')}-${commit}-${script}`;
  const out = join(runsFolder, id);
  const { code, cpu, holdings } = await load(k6, { id, script, out }, target, options);
  // 0 and 99 are runs that came to their end: every threshold passed, or one failed.
  if (code !== 0 && code !== 99) {
    console.error(`${script}: k6 exited with ${code}.`);
    return 'failed';
  }
  const summary: K6Summary = JSON.parse(await readFile(join(out, k6Files.summary), 'utf8'));
  const verdict = judge(summary, coresOfOthers(cpu, Object.keys(target.processes)));
  const growth = judgeGrowth(holdings, growthLimit());
  // A leak is one on any machine.
  if (growth.some(({ met }) => !met)) verdict.outcome = 'failed';
  const rate = summary.metrics.rate_reached?.value;
  // To cross a threshold is what such a script is for.
  if (rate !== undefined && verdict.outcome === 'failed') verdict.outcome = 'passed';
  const run: Run = {
    id,
    script,
    started: started.toISOString(),
    seconds: (Date.now() - started.getTime()) / 1_000,
    commit,
    target: target.address,
    machine: { k6: k6.version, ...machine() },
    settings: settingsOf(process.env, options.args),
    cpu,
    growth,
    verdict,
    ...(rate !== undefined && { rateReached: rate }),
  };
  await writeFile(join(out, 'run.json'), `${JSON.stringify(run, null, 2)}\n`);
  console.log(`${toText(run)}\nReport: ${join(out, k6Files.html)}`);
  return verdict.outcome;
}

/** Lets k6 run the script, and watches the machine meanwhile. */
async function load(
  k6: K6,
  { id, script, out }: { id: string; script: string; out: string },
  target: Target,
  options: K6Options,
) {
  await using control = await startControl();
  const names = Object.entries(target.processes).map(([name, pid]): [number, string] => [pid() ?? 0, name]);
  const cpu = watchCpu(Object.fromEntries([...names, [control.pid, 'control']]));
  const holdings = watchHoldings(script === 'soak' ? target.processes : {}, holdingsInterval);
  const running = runScript(k6, {
    script,
    out,
    variables: { ...target.variables, ...options.variables, CONTROL_URL: control.url },
    args: ['--tag', `testid=${id}`, ...options.args],
  });
  if (script === 'restart') await replaceReplicasUntil(running, target);
  const { code } = await running;
  return { code, cpu: cpu.stop(), holdings: holdings.stop() };
}

/** The same in each profile. */
const growthLimit = () => Number(process.env.LOAD_GROWTH || profiles.full?.soak.growth);

/** Replaces the replicas one by one, again and again, until `done` settles. */
async function replaceReplicasUntil(done: Promise<unknown>, target: Target): Promise<void> {
  let running = true;
  const finished = done.finally(() => {
    running = false;
  });
  while (running) await Promise.race([target.replaceNext?.(), finished]);
}
