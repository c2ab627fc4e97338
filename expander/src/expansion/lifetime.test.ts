import { describe, expect, test } from 'vitest';
import { responseWith } from '../../testing/response.ts';
import { type ErrorCode, ExpansionError } from './errors.ts';
import type { Hop } from './expansion.ts';
import { expansionFreshUntil, failureFreshUntil, responseFreshUntil } from './lifetime.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const seconds = (status: number, headers = {}) => (responseFreshUntil(status, headers, now) - now) / 1_000;

describe('a response is cached', () => {
  test.each([
    [301, 86_400],
    [308, 86_400],
    [302, 600],
    [303, 600],
    [307, 600],
    [200, 600],
    [404, 600],
    [429, 30],
    [503, 30],
    [520, 30],
    [999, 600],
  ])('by its status if its headers say nothing: %i for %i s', (status, lifetime) => {
    expect(seconds(status)).toBe(lifetime);
  });

  test.each([
    ['max-age', { 'cache-control': 'public, max-age=90' }, 90],
    ['s-maxage before max-age', { 'cache-control': 'max-age=90, s-maxage=120' }, 120],
    ['max-age less its age', { 'cache-control': 'max-age=90', age: '40' }, 50],
    ['Expires', { date: 'Thu, 01 Jan 2026 00:00:00 GMT', expires: 'Thu, 01 Jan 2026 00:05:00 GMT' }, 300],
    ['Expires by the clock here', { expires: 'Thu, 01 Jan 2026 00:05:00 GMT' }, 300],
    ['max-age before Expires', { 'cache-control': 'max-age=90', expires: '0' }, 90],
    ['no-store, at the least', { 'cache-control': 'no-store, max-age=900' }, 30],
    ['private, like no-store', { 'cache-control': 'private, max-age=900' }, 30],
    ['private for some fields, like no-store', { 'cache-control': 'private="set-cookie", max-age=900' }, 30],
    ['max-age=0, at the least', { 'cache-control': 'max-age=0' }, 30],
    ['max-age=-1, at the least', { 'cache-control': 'max-age=-1' }, 30],
    ['x-max-age and x-no-store say nothing', { 'cache-control': 'x-max-age=90, x-no-store' }, 600],
    ['a date that is none, at the least', { expires: '0' }, 30],
    ['a year, at the most', { 'cache-control': 'max-age=31536000' }, 86_400],
    ['of any number of digits', { 'cache-control': 'max-age=99999999999' }, 86_400],
    ['nonsense, as if nothing was said', { 'cache-control': 'max-age=soon' }, 600],
  ])('as its headers say: %s', (_, headers, lifetime) => {
    expect(seconds(302, headers)).toBe(lifetime);
  });

  test('for 10 minutes at most if it is an error, whatever its headers say', () => {
    const headers = { 'cache-control': 'max-age=86400' };
    expect([seconds(404, headers), seconds(503, headers)]).toEqual([600, 30]);
  });
});

describe('a chain is cached until its first redirect expires', () => {
  const hop = (status: number, lifetime: number, facts = {}) =>
    ({ ...responseWith({ status, freshUntil: now + lifetime * 1_000 }), ...facts }) as Hop;
  const [short, long] = [hop(301, 86_400), hop(301, 3_600)];

  test.each([
    ['however soon its end does', [short, long, hop(200, 30)], 3_600],
    ['or as a page that does not exist', [short, hop(404, 600)], 600],
    ['without any, as long as its answer', [hop(404, 600)], 600],
    ['or as the answer of a page that could not be had', [short, hop(200, 30, { interrupted: true })], 30],
    ...[408, 425, 429, 500, 503, 520].map((status): [string, Hop[], number] => [
      `or as the failure at its end, ${status}`,
      [short, long, hop(status, 30)],
      30,
    ]),
  ])('%s', (_, hops, lifetime) => {
    const until = expansionFreshUntil({ hops, redirectCount: hops.length - 1 }, now);
    expect((until - now) / 1_000).toBe(lifetime);
  });
});

test.each<[ErrorCode, number]>([
  ['request_failed', 30],
  ['target_refused', 30],
  ['timeout', 10],
  ['overloaded', 0],
  ['aborted', 0],
])('a failure is cached by its code: %s for %i s', (code, lifetime) => {
  expect((failureFreshUntil(new ExpansionError(code, ''), now) - now) / 1_000).toBe(lifetime);
});
