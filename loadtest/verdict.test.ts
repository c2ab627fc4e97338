import { expect, test } from 'vitest';
import { asTable, compareMedians } from './compare.ts';
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

const slow = 'http_req_duration{scenario:reads,target:stack} p(99)<20';

test('the reason names the threshold that decided, alone', () => {
  const failing = { http_req_failed: { thresholds: { 'rate<0.001': true } }, ...latency(true) };
  expect(judge(summary(failing))).toEqual({
    outcome: 'failed',
    reason: 'failed http_req_failed rate<0.001',
    others: [slow],
  });
  expect(judge(summary({ ...latency(true), ...control(true) }))).toEqual({
    outcome: 'busy',
    reason: 'is inconclusive: the control failed http_req_duration{target:control} p(99)<10',
    others: [slow],
  });
});

test('two runs are compared by the medians that both measured', () => {
  const run = (med: number, more = {}) =>
    summary({ http_req_duration: { med }, checks: { rate: 1 }, ...more });
  const rows = compareMedians(run(2, { only_before: { med: 1 } }), run(3, { only_now: { med: 1 } }));
  expect(rows).toEqual([{ metric: 'http_req_duration', before: 2, after: 3 }]);
  expect(asTable(rows).split('\n')).toEqual([
    '   before        now    ratio  median (ms)',
    '     2.00       3.00     1.50  http_req_duration',
  ]);
});
