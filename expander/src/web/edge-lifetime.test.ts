import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { endedExpansion } from '../expansion/chain.ts';
import { ExpansionError } from '../expansion/errors.ts';
import { createExpand } from '../expansion/expand.ts';
import type { Expansion } from '../expansion/expansion.ts';
import { createApp } from './app.ts';

const now = Date.parse('2026-01-01T00:00:00Z');

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now }));
afterEach(() => void vi.useRealTimers());

/** Returns the caching headers for an expansion that is fresh for `milliseconds`. */
async function caching(path: string, expansion: Expansion, milliseconds: number, exempt = false) {
  const expand = createExpand(async () => ({ ...expansion, freshUntil: now + milliseconds }));
  const { headers } = await createApp(expand, { exempt }).request(`${path}?u=http://a.example/`);
  return [headers.get('Cache-Control'), headers.get('X-Accel-Expires')];
}

const found = endedExpansion('http://b.example/', { code: 'final', message: '' });
const failed = endedExpansion('http://a.example/', new ExpansionError('request_failed', 'It is away.'));
const stale = ', stale-while-revalidate=30, stale-if-error=600';

test.each([
  ['fresh for a day', found, 86_400_000, `public, max-age=86400${stale}`, '29'],
  ['fresh for just longer than the edge lifetime', found, 30_000, `public, max-age=30${stale}`, '29'],
  ['fresh for less than the edge lifetime', found, 29_000, `public, max-age=29${stale}`, '28'],
  ['fresh for two seconds', found, 2_000, `public, max-age=2${stale}`, '1'],
  ['fresh for half a second', found, 600, `public, max-age=1${stale}`, '0'],
  ['about to expire', found, 400, 'no-store', null],
  ['expired', found, -60_000, 'no-store', null],
  ['an error (never stale)', failed, 10_000, 'public, max-age=10', '9'],
])('sets the caching headers of an expansion that is %s', async (_, expansion, milliseconds, ...headers) => {
  for (const path of ['/api', '/api/chain'])
    expect(await caching(path, expansion, milliseconds)).toEqual(headers);
});

test('forbids stale results while a network is exempt', async () => {
  expect(await caching('/api', found, 86_400_000, true)).toEqual(['public, max-age=86400', '29']);
});
