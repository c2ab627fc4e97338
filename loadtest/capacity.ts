/**
 * `node loadtest/capacity.ts [--mix all] [--check]` finds the highest rate that meets the objective on this machine, with
 * a stack of its own, and writes capacity.json, from which `make size` computes. `--check` compares such a computation
 * with a run.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Capacity, coresFor, kinds, type Limit, limitsOf, type Mix, mixes } from './capacity/model.ts';
import { costOf, idleCores, measureStep, type Objective, type Step } from './capacity/step.ts';
import { findK6, type K6 } from './k6.ts';
import { machine } from './machine/environment.ts';
import { runsFolder } from './runs/run-folder.ts';
import { textTable } from './table.ts';
import { startOwnStack, type Target } from './target.ts';

const capacityFile = join(runsFolder, 'capacity.json');

/** Rates at which one kind alone is measured: enough for the usual batches, well below what two cores can serve. */
const costRates = { hot: 1_000, cold: 200, list: 400, writes: 200 };
/** Each step of the search is higher by this factor, until one fails; then the gap is halved. */
const factor = 1.5;
const halvings = 2;
const firstRate = 400;

/** Cores that other programs may use while a step fails; if it is more, they may be the reason. */
const mayBeOthers = 0.1;
/** A step that fails beside other programs is tried again so often. */
const attempts = 4;

/** A share of the predicted CPU time by which a run may differ, on a quiet machine. */
const tolerance = 0.2;

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { mix: { type: 'string' }, check: { type: 'boolean' } } });
  const name = values.mix || 'all';
  const mix = mixes[name];
  if (!mix) throw new Error(`There is no mix ${name}; there are ${Object.keys(mixes).join(', ')}.`);
  const k6 = await findK6(console.log);
  const target = await startOwnStack(1, { LONGHAND_API_RATE: '9999999r/s', LONGHAND_SERVER_TIMING: 'off' });
  try {
    if (values.check) await check(k6, target);
    else await findCapacity(k6, target, name, mix);
  } finally {
    await target.stop();
  }
}

async function findCapacity(k6: K6, target: Target, name: string, mix: Mix): Promise<void> {
  const objective: Objective = {
    p99: Number(process.env.LOAD_P99) || 20,
    failed: Number(process.env.LOAD_FAILED) || 0.001,
  };
  const measure = async (mix: Mix, rate: number, what: string) => {
    const step = await measureStep(k6, target, mix, rate, objective);
    console.log(`${what} ${describe(step)}`);
    return step;
  };
  const idle = await idleCores(target);
  const costSteps: Step[] = [];
  for (const kind of kinds) costSteps.push(await measure(only(kind), costRates[kind], kind));
  const steps = await search((rate) => measure(mix, rate, name));
  const disturbed = steps.filter(({ met, others }) => !met && others >= mayBeOthers).length;
  const best = steps.filter(({ met }) => met).sort((a, b) => b.rate - a.rate)[0];
  if (!best) throw new Error(`Not even ${firstRate} requests/s met the objective: is the machine busy?`);
  const limits = limitsOf(best.cores, best.rate, Object.keys(target.processes), availableParallelism());
  const capacity: Capacity = {
    taken: new Date().toISOString(),
    machine: { k6: k6.version, ...machine() },
    objective,
    mix,
    rate: best.rate,
    conclusion: conclusion(best, limits, objective),
    limits,
    steps,
    costs: Object.fromEntries(
      kinds.map((kind, i) => [kind, costOf(costSteps[i] as Step, kind, idle)]),
    ) as Capacity['costs'],
    memory: best.memory,
    sockets: best.sockets,
  };
  await mkdir(runsFolder, { recursive: true });
  await writeFile(capacityFile, `${JSON.stringify(capacity, null, 2)}\n`);
  console.log(`\n${stepTable(best)}\n\n${capacity.conclusion}\n${capacityFile}`);
  if (disturbed === 0) return;
  console.log(
    `Machine busy: other programs ran during ${disturbed} of the steps that failed. It may be capable of more.`,
  );
  process.exitCode = 75;
}

function describe({ rate, p99, failed, dropped, cores, others, met }: Step): string {
  const busiest = Object.entries(cores).sort(([, a], [, b]) => b - a);
  const used = busiest.slice(0, 4).map(([name, cores]) => `${name} ${cores.toFixed(2)}`);
  const more = others < mayBeOthers ? '' : `, other programs ${others.toFixed(2)}`;
  return (
    `${rate}/s: p99 ${p99.toFixed(1)} ms, ${(failed * 100).toFixed(2)} % failed, ${dropped} dropped; ` +
    `cores: ${used.join(', ')}${more}${met ? '' : '  NOT MET'}`
  );
}

const only = (kind: (typeof kinds)[number]): Mix => ({ hot: 0, cold: 0, list: 0, writes: 0, [kind]: 1 });

/**
 * Raises the rate until a step fails, and halves the gap. A failure counts when it happens twice, without much of other
 * programs meanwhile.
 */
async function search(measure: (rate: number) => Promise<Step>): Promise<Step[]> {
  const steps: Step[] = [];
  const attempt = async (rate: number) => {
    for (let failures = 0, i = 0; i < attempts && failures < 2; i += 1) {
      const step = await measure(rate);
      steps.push(step);
      if (step.met) return true;
      if (step.others < mayBeOthers) failures += 1;
    }
    return false;
  };
  let rate = firstRate;
  while (await attempt(rate)) rate = Math.round(rate * factor);
  let [low, high] = [rate / factor, rate];
  for (let i = 0; i < halvings; i += 1) {
    const middle = Math.round((low + high) / 2);
    if (await attempt(middle)) low = middle;
    else high = middle;
  }
  return steps;
}

function conclusion(best: Step, [first, second]: Limit[], { p99 }: Objective): string {
  const shown = (rate: number) => (Math.round(rate / 10) * 10).toLocaleString('en');
  const used = best.cores[first?.name ?? ''];
  const all = Object.values(best.cores).reduce((sum, value) => sum + value, 0);
  const state =
    used === undefined
      ? `its ${availableParallelism()} cores were used to ${((100 * all) / availableParallelism()).toFixed(0)} %, ` +
        `${((100 * (best.cores.k6 ?? 0)) / all).toFixed(0)} % of that by k6`
      : `${first?.name} was at ${(used * 100).toFixed(0)} % of a core`;
  return (
    `${shown(best.rate)} requests/s within p99 < ${p99} ms on this machine; ${state}; ` +
    `the next limit is ${used === undefined ? '' : 'the '}${second?.name} at ${shown(second?.rate ?? Number.NaN)}.`
  );
}

/** Every process over the same seconds. */
function stepTable({ cores, lag, memory, sockets, commands, flushes }: Step): string {
  const rows = Object.keys(cores).map((name) => [
    name,
    `${((cores[name] ?? 0) * 100).toFixed(0)} %`,
    memory[name] === undefined ? '' : `${(memory[name] / 2 ** 20).toFixed(0)} MiB`,
    `${sockets[name] ?? ''}`,
    lag[name] === undefined ? '' : `${lag[name].toFixed(1)} ms`,
    commands[name] === undefined ? '' : commands[name].toFixed(0),
    name === 'tasks-store' && !Number.isNaN(flushes) ? flushes.toFixed(0) : '',
  ]);
  return textTable([
    ['process', 'of a core', 'memory', 'sockets', 'event-loop lag', 'commands/s', 'fsyncs/s'],
    ...rows,
  ]);
}

/** Another hit rate than any that was measured. */
async function check(k6: K6, target: Target): Promise<void> {
  const capacity: Capacity = JSON.parse(await readFile(capacityFile, 'utf8'));
  const mix: Mix = { hot: 0.4, cold: 0.4, list: 0.15, writes: 0.05 };
  const rate = Number(process.env.RATE) || 400;
  const predicted = coresFor(capacity.costs, mix, rate);
  const { cores, failed, others } = await measureStep(k6, target, mix, rate, capacity.objective);
  const total = (of: Record<string, number>) =>
    Object.keys(predicted).reduce((sum, name) => sum + (of[name] ?? 0), 0);
  const row = (name: string, a: number, b: number) => [
    name,
    a.toFixed(3),
    b.toFixed(3),
    `${(100 * (b / a - 1)).toFixed(0)} %`,
  ];
  const rows = Object.keys(predicted).map((name) => row(name, predicted[name] ?? 0, cores[name] ?? 0));
  const [expected, found] = [total(predicted), total(cores)];
  console.log(
    textTable([['cores', 'predicted', 'measured', 'difference'], ...rows, row('all', expected, found)]),
  );
  if (failed > capacity.objective.failed || others >= mayBeOthers) {
    const reason = `${(failed * 100).toFixed(2)} % failed, and other programs used ${others.toFixed(2)} cores`;
    console.log(`\nMachine busy, no verdict: ${reason}.`);
    process.exitCode = 75;
    return;
  }
  const met = Math.abs(found / expected - 1) <= tolerance;
  console.log(
    `\n${rate} requests/s with half of the links cold: the prediction ${met ? 'holds' : 'DOES NOT HOLD'} within 20 %.`,
  );
  if (!met) process.exitCode = 1;
}

await main().catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
