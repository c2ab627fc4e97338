import { expect, test } from 'vitest';
import { judge, type K6Summary } from './verdict.ts';

const summary = (metrics: object) => ({ metrics }) as unknown as K6Summary;

const latency = (isSlow: boolean) => ({
  'http_req_duration{scenario:reads,target:stack}': { thresholds: { 'p(99)<20': isSlow } },
});
const control = (isSlow: boolean) => ({
  'http_req_duration{target:control}': { thresholds: { 'p(99)<10': isSlow } },
});
const reached = { rate_reached: { value: 700.2 } };

test.each([
  ['a stack that keeps its thresholds', 'passed', latency(false)],
  ['one that is slow beside a control that is not', 'failed', latency(true)],
  ['one whose control is too slow', 'busy', { ...latency(true), ...control(true) }],
  ['one that passes although its control is too slow', 'busy', { ...latency(false), ...control(true) }],
  [
    'a breakpoint, which looks for the rate that crosses a threshold',
    'passed',
    { ...latency(true), ...reached },
  ],
] as const)('%s: %s', (_, outcome, metrics) => {
  expect(judge(summary({ ...control(false), ...metrics })).outcome).toBe(outcome);
});

test('the reason names what was crossed', () => {
  expect(judge(summary(latency(true))).reason).toBe(
    'failed: http_req_duration{scenario:reads,target:stack} p(99)<20',
  );
});
