import { type Capacity, type Costs, causes, causesIn, type Kind, kinds, type Mix } from './model.ts';
import type { Step } from './step.ts';

const only = (kind: Kind): Mix => ({ hot: 0, cold: 0, list: 0, writes: 0, [kind]: 1 });

/**
 * The steps from which costs are told: each kind alone at two rates, well below what two cores can serve, and lists that
 * writes change.
 */
export const costSteps: { mix: Mix; rate: number }[] = [
  ...Object.entries({ hot: [150, 1_000], cold: [75, 250], list: [75, 400], writes: [50, 200] }).flatMap(
    ([kind, rates]) => rates.map((rate) => ({ mix: only(kind as Kind), rate })),
  ),
  { mix: { ...only('list'), list: 0.5, writes: 0.5 }, rate: 200 },
];

/** What load needs beside the stack. */
const beside = ['k6', 'shortener'];

/** Tells what a request of each kind costs from steps of a stack with one replica of each. */
export function costsOf(steps: readonly Step[]): Pick<Capacity, 'costs' | 'latency'> {
  const processes = Object.keys(steps[0]?.cores ?? {}).filter((name) => !beside.includes(name));
  const costs = processes.map((process) => {
    const often = steps.map(({ mix, rate }) => causesIn(process, mix, rate));
    const cores = fit(
      often.map((row) => causes.map((cause) => row[cause])),
      steps.map((step) => step.cores[process] ?? 0),
    );
    return [process, Object.fromEntries(causes.map((cause, place) => [cause, (cores[place] ?? 0) * 1e6]))];
  });
  const latency = kinds.map((kind) => [
    kind,
    steps.findLast(({ mix }) => mix[kind] === 1)?.latency[kind] ?? 0,
  ]);
  return { costs: Object.fromEntries(costs) as Costs, latency: Object.fromEntries(latency) };
}

/** Cores below which a difference is noise: the kernel counts CPU time in hundredths of a second. */
const noise = 0.005;

/**
 * The factors, none of them negative, with which the sums of `rows` come closest to `values`, as shares of these.
 * Each is made the best one for the others as they are, again and again.
 */
export function fit(rows: readonly number[][], values: readonly number[]): number[] {
  const factors = (rows[0] ?? []).map(() => 0);
  const weights = values.map((value) => 1 / (value + noise) ** 2);
  for (let round = 0; round < 20_000; round += 1) {
    for (const place of factors.keys()) {
      let [numerator, denominator] = [0, 0];
      for (const [i, row] of rows.entries()) {
        const x = row[place] ?? 0;
        const others = row.reduce((sum, y, j) => (j === place ? sum : sum + y * (factors[j] ?? 0)), 0);
        numerator += (weights[i] ?? 0) * x * ((values[i] ?? 0) - others);
        denominator += (weights[i] ?? 0) * x * x;
      }
      factors[place] = denominator === 0 ? 0 : Math.max(0, numerator / denominator);
    }
  }
  return factors;
}
