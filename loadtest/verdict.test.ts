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
  ['a stack threshold failed', 'failed', latency(true)],
  ['stack and control thresholds failed', 'busy', { ...latency(true), ...control(true) }],
  ['a control threshold failed', 'busy', { ...latency(false), ...control(true) }],
  ['a breakpoint threshold failed', 'passed', { ...latency(true), rate_reached: { value: 700.2 } }],
] as const)('%s: %s', (_, outcome, metrics) => {
  expect(judge(summary({ ...control(false), ...metrics })).outcome).toBe(outcome);
});

test('the reason lists the failed thresholds', () => {
  expect(judge(summary(latency(true))).reason).toBe(
    'failed: http_req_duration{scenario:reads,target:stack} p(99)<20',
  );
});
