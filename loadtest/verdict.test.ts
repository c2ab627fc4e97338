import { expect, test } from 'vitest';
import { judge, type K6Summary } from './verdict.ts';

const summary = (metrics: object) => ({ metrics }) as unknown as K6Summary;

const latency = (isSlow: boolean) => ({
  'http_req_duration{scenario:reads,target:stack}': { thresholds: { 'p(99)<20': isSlow } },
});
const control = (isSlow: boolean) => ({
  'http_req_duration{target:control}': { thresholds: { 'p(99)<10': isSlow } },
});

test.each([
  ['all thresholds passed', 'passed', latency(false)],
  ['a threshold of the stack failed', 'failed', latency(true)],
  ['thresholds of the stack and of the control failed', 'busy', { ...latency(true), ...control(true) }],
  ['a threshold of the control failed', 'busy', { ...latency(false), ...control(true) }],
  ['a threshold failed at the breakpoint', 'passed', { ...latency(true), rate_reached: { value: 700.2 } }],
] as const)('%s: %s', (_, outcome, metrics) => {
  expect(judge(summary({ ...control(false), ...metrics })).outcome).toBe(outcome);
});

test('the reason names the failed thresholds', () => {
  expect(judge(summary(latency(true))).reason).toBe(
    'failed: http_req_duration{scenario:reads,target:stack} p(99)<20',
  );
});
