import { expect, test } from 'vitest';
import { alwaysMet } from '../profiles.ts';
import { judge, type K6Summary } from './verdict.ts';

const latency = 'http_req_duration{scenario:reads,target:stack}';
const ofControl = 'http_req_duration{scenario:reads,target:control}';
const control = 'http_req_duration{target:control}';

/**
 * A summary as k6 exports it: for each threshold whether it was crossed.
 *
 * @param reads the control's p99 while the stack was read, if it was asked.
 */
const summary = (
  p99: number,
  reads?: number,
  { controlCrossed = false, more = {} }: { controlCrossed?: boolean; more?: object } = {},
) =>
  ({
    metrics: {
      [latency]: { count: 1, 'p(99)': p99, thresholds: { 'p(99)<20': p99 >= 20 } },
      [ofControl]: { count: reads ? 1 : 0, 'p(99)': reads ?? 0, thresholds: { [alwaysMet]: false } },
      [control]: { count: 1, 'p(99)': 1, thresholds: { 'p(99)<10': controlCrossed } },
      ...more,
    },
  }) as unknown as K6Summary;

test('what the control needed at the same time is subtracted from a latency', () => {
  const { outcome, objectives } = judge(summary(22, 4));
  expect(outcome).toBe('passed');
  expect(objectives[0]).toMatchObject({ metric: latency, value: 22, control: 4, met: true });
  expect(objectives).toHaveLength(2);
});

const wrong = { checks: { value: 0.9, thresholds: { 'rate==1': true } } };
const lost = { lost_writes: { count: 1, thresholds: { 'count==0': true } } };
const tooSlow = { controlCrossed: true };

test.each<[what: string, outcome: string, summary: K6Summary, otherPrograms?: number]>([
  ['a stack that is slow beside a control that is not has failed', 'failed', summary(30, 4)],
  ['a latency whose control was not asked is as k6 says', 'failed', summary(22)],
  ['that is, also if it is met', 'passed', summary(19)],
  ['a stack that is slow beside other programs has no verdict', 'busy', summary(30, 4), 0.8],
  ['one that is not has passed all the same', 'passed', summary(22, 4), 0.8],
  ['few other programs excuse nothing', 'failed', summary(30, 4), 0.1],
  ['a wrong response is one, whatever else runs', 'failed', summary(30, 4, { more: wrong }), 0.8],
  ['where the control is too slow, there is no verdict', 'busy', summary(500, 490, tooSlow)],
  ['also none that is green', 'busy', summary(5, 490, tooSlow)],
  ['but a lost write is a lost write', 'failed', summary(500, 490, { ...tooSlow, more: lost })],
])('%s: %s', (_, outcome, given, otherPrograms) => {
  expect(judge(given, otherPrograms).outcome).toBe(outcome);
});

test('other thresholds are as k6 says', () => {
  const more = { dropped_iterations: { count: 3, thresholds: { 'count==0': true } } };
  const { outcome, objectives } = judge(summary(5, 1, { more }));
  expect(outcome).toBe('failed');
  const objective = objectives.find(({ metric }) => metric === 'dropped_iterations');
  expect(objective).toEqual({ metric: 'dropped_iterations', rule: 'count==0', value: 3, met: false });
});

test('a latency that was never measured is no success', () => {
  const only = { metrics: { [latency]: { count: 0, 'p(99)': 0, thresholds: { 'p(99)<20': false } } } };
  expect(judge(only as unknown as K6Summary)).toEqual({
    outcome: 'failed',
    objectives: [expect.objectContaining({ unmeasured: true })],
  });
});

test('a leak is one on any machine, also a busy one', () => {
  const leak = { metric: 'open files of tasks 7', rule: '<=84.0', value: 100, met: false };
  const { outcome, objectives } = judge(summary(30, 4), 0.8, [leak]);
  expect([outcome, objectives.at(-1)]).toEqual(['failed', leak]);
});

test('a breakpoint looks for the rate that crosses a threshold', () => {
  const found = judge(summary(30, 4, { more: { rate_reached: { value: 700 } } }));
  expect(found).toMatchObject({ outcome: 'passed', rateReached: 700 });
});
