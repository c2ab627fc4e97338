import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { responseWith } from '../../testing/response.ts';
import { endedExpansion } from './chain.ts';
import { type ErrorCode, ExpansionError } from './errors.ts';
import type { End, Hop } from './expansion.ts';
import { expansionLifetime, responseFreshUntil } from './lifetime.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const at = (time: string) => `Thu, 01 Jan 2026 ${time}:00 GMT`;
const seconds = (status: number, headers = {}) => (responseFreshUntil(status, headers, now) - now) / 1_000;

describe("a response's lifetime", () => {
  test.each([
    [301, 86_400],
    [308, 86_400],
    [302, 600],
    [200, 600],
    [404, 600],
    [429, 30],
    [503, 30],
    [520, 30],
    [999, 600],
  ])('depends on its status without caching headers: %i, %i s', (status, lifetime) => {
    expect(seconds(status)).toBe(lifetime);
  });

  test.each([
    ['max-age', { 'cache-control': 'public, max-age=90' }, 90],
    ['s-maxage rather than max-age', { 'cache-control': 'max-age=90, s-maxage=120' }, 120],
    ['max-age minus Age', { 'cache-control': 'max-age=90', age: '40' }, 50],
    ['Expires minus Date', { date: at('00:01'), expires: at('00:05') }, 240],
    ['Expires without Date', { expires: at('00:05') }, 300],
    ['max-age rather than Expires', { 'cache-control': 'max-age=90', expires: '0' }, 90],
    ['no-store: 30 s', { 'cache-control': 'no-store, max-age=900' }, 30],
    ['private: 30 s', { 'cache-control': 'private, max-age=900' }, 30],
    ['private for some fields: 30 s', { 'cache-control': 'private="set-cookie", max-age=900' }, 30],
    ['max-age=-1: 30 s', { 'cache-control': 'max-age=-1' }, 30],
    ['x-max-age and x-no-store: ignored', { 'cache-control': 'x-max-age=90, x-no-store' }, 600],
    ['an invalid date: 30 s', { expires: '0' }, 30],
    ['max-age of a thousand years: a day', { 'cache-control': 'max-age=31536000000' }, 86_400],
    ['an invalid max-age: ignored', { 'cache-control': 'max-age=soon' }, 600],
  ])('depends on its headers: %s', (_, headers, lifetime) => {
    expect(seconds(302, headers)).toBe(lifetime);
  });

  test('depends only on the status for error responses', () => {
    const headers = { 'cache-control': 'max-age=86400' };
    expect([seconds(404, headers), seconds(503, headers)]).toEqual([600, 30]);
  });
});

describe('a chain is cached until its first redirect expires', () => {
  const hop = (status: number, lifetime: number, facts = {}) =>
    ({ ...responseWith({ status, freshUntil: now + lifetime * 1_000 }), ...facts }) as Hop;
  const [short, long] = [hop(301, 86_400), hop(301, 3_600)];

  test.each([
    ['even if the last response expires sooner', [short, long, hop(200, 30)], 3_600],
    ['or until a final 404 expires', [short, hop(404, 600)], 600],
    ['or until its only response expires', [hop(404, 600)], 600],
    ['or until an interrupted page expires', [short, hop(200, 30, { interrupted: true })], 30],
    ...[408, 425, 429, 500, 503, 520].map((status): [string, Hop[], number] => [
      `or until a final ${status} expires`,
      [short, long, hop(status, 30)],
      30,
    ]),
  ])('%s', (_, hops, lifetime) => {
    const end: End = { code: 'final', message: '' };
    const { freshUntil } = expansionLifetime({ hops, redirectCount: hops.length - 1, end }, now);
    expect((freshUntil - now) / 1_000).toBe(lifetime);
  });

  test.each<End['code']>([
    ...(['no_location', 'malformed_location', 'unsupported_scheme', 'loop', 'max_redirects'] as const),
  ])('but as long as a failure if it ends without a page: %s', (code) => {
    const chain = { hops: [short, long], redirectCount: 1, end: { code, message: '' } };
    const { freshUntil, staleUntil } = expansionLifetime(chain, now);
    expect([freshUntil, staleUntil]).toEqual([now + 30_000, now + 30_000]);
  });
});

test.each<[ErrorCode, number]>([
  ['request_failed', 30],
  ['target_refused', 30],
  ['timeout', 10],
  ['overloaded', 0],
  ['aborted', 0],
])('the lifetime of an error depends on its code: %s, %i s', (code, lifetime) => {
  vi.useFakeTimers({ now });
  onTestFinished(() => void vi.useRealTimers());
  const { freshUntil } = endedExpansion('', new ExpansionError(code, ''));
  expect((freshUntil - now) / 1_000).toBe(lifetime);
});
