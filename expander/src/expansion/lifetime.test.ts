import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { responseWith } from '../../testing/response.ts';
import { endedExpansion } from './chain.ts';
import { type ErrorCode, ExpansionError } from './errors.ts';
import type { Hop } from './expansion.ts';
import { expansionLifetime, responseFreshUntil } from './lifetime.ts';

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
  ])('by its status, without caching headers: %i for %i s', (status, lifetime) => {
    expect(seconds(status)).toBe(lifetime);
  });

  test.each([
    ['max-age', { 'cache-control': 'public, max-age=90' }, 90],
    ['s-maxage before max-age', { 'cache-control': 'max-age=90, s-maxage=120' }, 120],
    ['max-age less its age', { 'cache-control': 'max-age=90', age: '40' }, 50],
    ['Expires', { date: 'Thu, 01 Jan 2026 00:00:00 GMT', expires: 'Thu, 01 Jan 2026 00:05:00 GMT' }, 300],
    ['Expires by our clock', { expires: 'Thu, 01 Jan 2026 00:05:00 GMT' }, 300],
    ['max-age before Expires', { 'cache-control': 'max-age=90', expires: '0' }, 90],
    ['no-store: 30 s', { 'cache-control': 'no-store, max-age=900' }, 30],
    ['private: 30 s', { 'cache-control': 'private, max-age=900' }, 30],
    ['private for some fields: 30 s', { 'cache-control': 'private="set-cookie", max-age=900' }, 30],
    ['max-age=0: 30 s', { 'cache-control': 'max-age=0' }, 30],
    ['max-age=-1: 30 s', { 'cache-control': 'max-age=-1' }, 30],
    ['ignores x-max-age and x-no-store', { 'cache-control': 'x-max-age=90, x-no-store' }, 600],
    ['an invalid date: 30 s', { expires: '0' }, 30],
    ['a day at most, for max-age of a year', { 'cache-control': 'max-age=31536000' }, 86_400],
    ['a day at most, for max-age of any length', { 'cache-control': 'max-age=99999999999' }, 86_400],
    ['ignores nonsense', { 'cache-control': 'max-age=soon' }, 600],
  ])('by its headers: %s', (_, headers, lifetime) => {
    expect(seconds(302, headers)).toBe(lifetime);
  });

  test('for at most 10 minutes if it is an error, regardless of its headers', () => {
    const headers = { 'cache-control': 'max-age=86400' };
    expect([seconds(404, headers), seconds(503, headers)]).toEqual([600, 30]);
  });
});

describe('a chain is cached until its first redirect expires', () => {
  const hop = (status: number, lifetime: number, facts = {}) =>
    ({ ...responseWith({ status, freshUntil: now + lifetime * 1_000 }), ...facts }) as Hop;
  const [short, long] = [hop(301, 86_400), hop(301, 3_600)];

  test.each([
    ['even if its end expires sooner', [short, long, hop(200, 30)], 3_600],
    ['or as long as a page that does not exist', [short, hop(404, 600)], 600],
    ['without a redirect, as long as its response', [hop(404, 600)], 600],
    ['or as long as an interrupted page', [short, hop(200, 30, { interrupted: true })], 30],
    ...[408, 425, 429, 500, 503, 520].map((status): [string, Hop[], number] => [
      `or as long as a ${status} at its end`,
      [short, long, hop(status, 30)],
      30,
    ]),
  ])('%s', (_, hops, lifetime) => {
    const { freshUntil } = expansionLifetime({ hops, redirectCount: hops.length - 1 }, now);
    expect((freshUntil - now) / 1_000).toBe(lifetime);
  });
});

test.each<[ErrorCode, number]>([
  ['request_failed', 30],
  ['target_refused', 30],
  ['timeout', 10],
  ['overloaded', 0],
  ['aborted', 0],
])('caches a failure by its code: %s for %i s', (code, lifetime) => {
  vi.useFakeTimers({ now });
  onTestFinished(() => void vi.useRealTimers());
  const { freshUntil } = endedExpansion('', new ExpansionError(code, ''));
  expect((freshUntil - now) / 1_000).toBe(lifetime);
});
