import type { K6 } from '../k6.ts';
import { type OwnTarget, startOwnStack } from '../target.ts';
import { costSteps, costsOf } from './costs.ts';
import { type Capacity, kinds } from './model.ts';
import { describe, measureStep, type Step } from './step.ts';

/** How often a new stack is loaded for a few seconds before it is measured, so that V8 has compiled what is used often. */
const warmUps = 2;
const everything = { hot: 0.25, cold: 0.25, list: 0.25, writes: 0.25 };

/** A stack of its own, as fast as it can be and warm, for as long as it is used. */
export async function withStack<Result>(
  k6: K6,
  tasks: number,
  use: (target: OwnTarget) => Promise<Result>,
): Promise<Result> {
  await using target = await startOwnStack(tasks, {
    LONGHAND_API_RATE: '9999999r/s',
  });
  for (let i = 0; i < warmUps; i += 1) await measureStep(k6, target, everything, 500);
  return await use(target);
}

/** What a request of each kind costs on this machine. */
export async function measureCosts(k6: K6, target: OwnTarget): Promise<Pick<Capacity, 'costs' | 'latency'>> {
  const steps: Step[] = [];
  for (const { mix, rate } of costSteps) {
    const step = await measureStep(k6, target, mix, rate);
    const asked = kinds.filter((kind) => mix[kind] > 0);
    console.log(`${asked.join(' and ')} ${describe(step)}`);
    steps.push(step);
  }
  return costsOf(steps);
}
