import { describe, expect, test } from 'vitest';
import type { Sample } from '../samples.ts';
import { judge, type K6Summary } from './verdict.ts';

const latency = 'http_req_duration{scenario:reads,target:stack}';
const control = 'http_req_duration{target:control}';

const times = (target: string, ...values: number[]): Sample[] =>
  values.map((value, i) => ({
    metric: 'http_req_duration',
    at: i,
    value,
    tags: { target, scenario: 'reads' },
  }));

/** A summary as k6 exports it: for each threshold whether it was crossed. */
const summary = (p99: number, controlCrossed = false, more: K6Summary['metrics'] = {}): K6Summary => ({
  metrics: {
    [latency]: { 'p(99)': p99, thresholds: { 'p(99)<20': p99 >= 20 } } as never,
    [control]: { 'p(99)': 1, thresholds: { 'p(99)<10': controlCrossed } } as never,
    ...more,
  },
});

test('what the control needed at the same time is subtracted from a latency', () => {
  const { outcome, objectives } = judge(summary(22), [...times('stack', 22), ...times('control', 4, 4)]);
  expect(outcome).toBe('passed');
  expect(objectives[0]).toMatchObject({ value: 22, control: 4, met: true });
});

test('a stack that is slow beside a control that is not has failed', () => {
  expect(judge(summary(30), [...times('stack', 30), ...times('control', 4)]).outcome).toBe('failed');
});

test('a stack that is slow beside other programs has no verdict; one that is not has passed all the same', () => {
  const samples = [...times('stack', 30), ...times('control', 4)];
  expect(judge(summary(30), samples, 0.8).outcome).toBe('busy');
  expect(judge(summary(22), samples, 0.8).outcome).toBe('passed');
  expect(judge(summary(30), samples, 0.1).outcome).toBe('failed');
});

test('a wrong response is one, whatever else runs', () => {
  const wrong = { checks: { value: 0.9, thresholds: { 'rate==1': true } } as never };
  expect(judge(summary(30, false, wrong), times('stack', 30), 0.8).outcome).toBe('failed');
});

describe('where the control is too slow', () => {
  const samples = [...times('stack', 500), ...times('control', 490)];

  test('there is no verdict, neither red nor green', () => {
    expect(judge(summary(500, true), samples).outcome).toBe('busy');
    expect(judge(summary(5, true), samples).outcome).toBe('busy');
  });

  test('a lost write is a lost write', () => {
    const lost = { lost_writes: { count: 1, thresholds: { 'count==0': true } } as never };
    expect(judge(summary(500, true, lost), samples).outcome).toBe('failed');
  });
});

test('other thresholds are as k6 says', () => {
  const dropped = { dropped_iterations: { count: 3, thresholds: { 'count==0': true } } as never };
  const { outcome, objectives } = judge(summary(5, false, dropped), times('stack', 5));
  expect(outcome).toBe('failed');
  const objective = objectives.find(({ metric }) => metric === 'dropped_iterations');
  expect(objective).toEqual({ metric: 'dropped_iterations', rule: 'count==0', value: 3, met: false });
});

test('a latency that was never measured is no success', () => {
  const only = { metrics: { [latency]: { 'p(99)': 0, thresholds: { 'p(99)<20': false } } as never } };
  expect(judge(only, [])).toEqual({
    outcome: 'failed',
    objectives: [expect.objectContaining({ unmeasured: true })],
  });
});
