import type { K6 } from '../k6.ts';
import { textTable } from '../table.ts';
import { measureCosts, withStack } from './measure-costs.ts';
import { coresFor, type Mix, mixes } from './model.ts';
import { mayBeOthers, measureStep, objective, type Step } from './step.ts';

/** A share of the predicted CPU time by which a run may differ, on a quiet machine. */
const tolerance = 0.2;

/** Loads that were not measured: other shares of each kind, and another number of replicas. */
const cases = [
  { what: 'half of the links cold', mix: mixes.half as Mix, rate: 400, tasks: 1 },
  { what: 'two replicas of tasks', mix: mixes.tasks as Mix, rate: 500, tasks: 2 },
];

/** Compares what costs predict with runs, and sets the exit code. */
export async function checkPredictions(k6: K6): Promise<void> {
  const { costs } = await withStack(k6, 1, (target) => measureCosts(k6, target));
  for (const { what, mix, rate, tasks } of cases) {
    const predicted = coresFor(costs, mix, rate, { tasks });
    const step = await withStack(k6, tasks, (target) => measureStep(k6, target, mix, rate));
    const code = compare(`${what}, ${rate} requests/s`, predicted, step);
    process.exitCode = Math.max(code, Number(process.exitCode ?? 0));
  }
}

/** Prints a prediction beside what was measured. @returns the exit code: 0 if it holds, 75 if others were at work. */
function compare(what: string, predicted: Record<string, number>, { cores, failed, others }: Step): number {
  const sum = (values: number[]) => values.reduce((all, used) => all + used, 0);
  // A second replica is `tasks-2`.
  const measured = (name: string) =>
    sum(
      Object.entries(cores).flatMap(([process, used]) => (process.replace(/-\d$/, '') === name ? used : [])),
    );
  const row = (name: string, a: number, b: number) => [
    name,
    a.toFixed(3),
    b.toFixed(3),
    `${(100 * (b / a - 1)).toFixed(0)} %`,
  ];
  const names = Object.keys(predicted);
  const [expected, found] = [sum(Object.values(predicted)), sum(names.map(measured))];
  const rows = names.map((name) => row(name, predicted[name] ?? 0, measured(name)));
  console.log(
    `\n${textTable([[`${what}: cores`, 'predicted', 'measured', 'difference'], ...rows, row('all', expected, found)])}\n`,
  );
  if (failed > objective.failed || others >= mayBeOthers) {
    console.log(
      `Machine busy, no verdict: ${(failed * 100).toFixed(2)} % failed, and other programs used ${others.toFixed(2)} cores.`,
    );
    return 75;
  }
  const met = Math.abs(found / expected - 1) <= tolerance;
  console.log(`The prediction ${met ? 'holds' : 'DOES NOT HOLD'} within ${100 * tolerance} %.`);
  return met ? 0 : 1;
}
