/**
 * `node loadtest/capacity.ts [--mix all] [--check]` finds the highest rate that meets the objective on this machine, with
 * a stack of its own, and writes capacity.json, from which `make size` computes. `--check` compares such computations
 * with runs.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measureCosts, withStack } from './capacity/measure-costs.ts';
import { type Capacity, type Limit, limitsOf, type Mix, mixes } from './capacity/model.ts';
import { checkPredictions } from './capacity/predictions.ts';
import { describe, mayBeOthers, measureStep, objective, type Step } from './capacity/step.ts';
import { findK6, type K6 } from './k6.ts';
import { machine } from './machine/environment.ts';
import { program } from './program.ts';
import { runsFolder } from './runs/run-folder.ts';
import { textTable } from './table.ts';
import type { OwnTarget } from './target.ts';

const capacityFile = join(runsFolder, 'capacity.json');

/** Each step of the search is higher by this factor, until one fails; then the gap is halved. */
const factor = 1.5;
const halvings = 2;
const firstRate = 400;

/** A step that fails beside other programs is tried again so often. */
const attempts = 4;

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { mix: { type: 'string' }, check: { type: 'boolean' } } });
  const name = values.mix || 'all';
  const mix = mixes[name];
  if (!mix) throw new Error(`There is no mix ${name}; there are ${Object.keys(mixes).join(', ')}.`);
  const k6 = await findK6(console.log);
  if (values.check) await checkPredictions(k6);
  else await withStack(k6, 1, (target) => findCapacity(k6, target, name, mix));
}

async function findCapacity(k6: K6, target: OwnTarget, name: string, mix: Mix): Promise<void> {
  console.log('What each kind of request costs, at two rates:');
  const costs = await measureCosts(k6, target);
  console.log('The highest rate that meets the objective:');
  const steps = await search(async (rate) => {
    const step = await measureStep(k6, target, mix, rate);
    console.log(`${name} ${describe(step)}`);
    return step;
  });
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
    conclusion: conclusion(best, limits),
    limits,
    steps,
    ...costs,
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

function conclusion(best: Step, [first, second]: Limit[]): string {
  const shown = (rate: number) => (Math.round(rate / 10) * 10).toLocaleString('en');
  const used = best.cores[first?.name ?? ''];
  const all = Object.values(best.cores).reduce((sum, value) => sum + value, 0);
  const state =
    used === undefined
      ? `its ${availableParallelism()} cores were used to ${((100 * all) / availableParallelism()).toFixed(0)} %, ` +
        `${((100 * (best.cores.k6 ?? 0)) / all).toFixed(0)} % of that by k6`
      : `${first?.name} was at ${(used * 100).toFixed(0)} % of a core`;
  return (
    `${shown(best.rate)} requests/s within p99 < ${objective.p99} ms on this machine; ${state}; ` +
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

await program(main);
