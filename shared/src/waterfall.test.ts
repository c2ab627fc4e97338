import { describe, expect, test } from 'vitest';
import type { ObservedRequest } from './spans.ts';
import { explain, type Found, type ProxyLine, readLine } from './waterfall.ts';

const line: ProxyLine = {
  requestId: 'a'.repeat(32),
  method: 'GET',
  path: '/api',
  status: 504,
  seconds: 2,
  end: 1_002,
  upstream: 'unix:run/expander',
  upstreamStatus: '504',
  upstreamSeconds: '1.990',
  limit: 'PASSED',
  cache: 'MISS',
};

const request: ObservedRequest = {
  requestId: line.requestId,
  service: 'expander',
  method: 'GET',
  route: '/api',
  status: 504,
  error: 'timeout',
  start: 1_000_000,
  seconds: 2,
  spans: [
    { name: 'redis GET', start: 1_000_000, seconds: 0.05 },
    { name: 'hop', start: 1_000_500, seconds: 0.5, facts: { status: 301, method: 'HEAD' } },
    { name: 'hop', start: 1_001_000, error: 'timeout', seconds: 1 },
  ],
};

describe('A request is explained', () => {
  test('by one waterfall and one sentence', () => {
    expect(explain([line], [request])).toBe(
      [
        `proxy           2.00 s  ${'█'.repeat(40)}  GET /api 504, MISS, unix:run/expander`,
        `expander        2.00 s  ${'█'.repeat(40)}  /api, 504, timeout`,
        `  redis GET    50.0 ms  █`,
        `  hop         500.0 ms  ${' '.repeat(10)}${'█'.repeat(10)}${' '.repeat(20)}  status 301, method HEAD`,
        `  hop           1.00 s  ${' '.repeat(20)}${'█'.repeat(20)}  timeout`,
        '',
        'The request was answered 504 after 2.00 s: in expander the longest wait, “hop”, took 1.00 s and failed (timeout).',
      ].join('\n'),
    );
  });

  test('also where something has not ended', () => {
    const spans = [{ name: 'redis create', start: 1_000_000 }];
    const text = explain([line], [{ ...request, spans }]);
    expect(text).toContain('  redis create  not ended  ████');
    expect(text).toContain('the longest wait, “redis create”, had not ended.');
  });

  test.each<[string, Partial<ProxyLine>, string]>([
    ['limited', { status: 429, limit: 'REJECTED', upstream: '' }, 'sent more than the rate limit allows'],
    ['from the edge', { status: 200, cache: 'HIT', upstream: '' }, 'by the proxy itself, from its cache'],
    ['fast and fine', { status: 200 }, 'there it was neither slow nor failed'],
  ])('where no service kept it: %s', (_, change, expected) => {
    expect(explain([{ ...line, ...change }], [])).toContain(expected);
  });

  test('from the lines of a log and the answers of services', () => {
    const found: Found = { lines: [], requests: [] };
    for (const value of [line, { ...line, service: 'proxy', msg: 'request' }, [], [request]]) {
      readLine(found, JSON.stringify(value));
    }
    expect([found.lines.length, found.requests.length]).toEqual([1, 1]);
    expect(explain([], [])).toBe('No log and no service knows this request.');
  });
});
