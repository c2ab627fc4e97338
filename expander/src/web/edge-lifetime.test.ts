import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { endedExpansion } from '../expansion/chain.ts';
import { ExpansionError } from '../expansion/errors.ts';
import { createExpand } from '../expansion/expand.ts';
import type { Expansion } from '../expansion/expansion.ts';
import { createApp } from './app.ts';

const now = Date.parse('2026-01-01T00:00:00Z');

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now }));
afterEach(() => void vi.useRealTimers());

/** What the responses to one expansion say of caching. */
async function caching(path: string, expansion: Expansion, exempt: boolean) {
  const app = createApp(
    createExpand(async () => expansion),
    { exempt },
  );
  const { headers } = await app.request(`${path}?u=http://a.example/`);
  return [headers.get('Cache-Control'), headers.get('X-Accel-Expires')];
}

const found = (milliseconds: number): Expansion => ({
  ...endedExpansion('http://b.example/', { code: 'final', message: '' }),
  freshUntil: now + milliseconds,
});
const stale = ', stale-while-revalidate=30, stale-if-error=600';

test.each([
  ['a day', 86_400_000, `public, max-age=86400${stale}`, '29'],
  ['just longer than at the edge', 30_000, `public, max-age=30${stale}`, '29'],
  ['shorter than at the edge', 29_000, `public, max-age=29${stale}`, '28'],
  ['two seconds', 2_000, `public, max-age=2${stale}`, '1'],
  ['next to nothing', 600, `public, max-age=1${stale}`, '0'],
  ['nothing', 400, 'no-store', null],
  ['less than nothing', -60_000, 'no-store', null],
])('a result that is fresh for %s', async (_, milliseconds, cacheControl, expires) => {
  for (const path of ['/api', '/api/chain']) {
    expect(await caching(path, found(milliseconds), false)).toEqual([cacheControl, expires]);
  }
});

test('a result found under an exemption is never given past its time: it leaves the edge within 30 s', async () => {
  for (const path of ['/api', '/api/chain']) {
    expect(await caching(path, found(86_400_000), true)).toEqual(['public, max-age=86400', '29']);
  }
});

test('an error is kept for its time, and no longer', async () => {
  const refused = endedExpansion('http://a.example/', new ExpansionError('request_failed', 'It is away.'));
  for (const path of ['/api', '/api/chain']) {
    const expansion = { ...refused, freshUntil: now + 10_000 };
    expect(await caching(path, expansion, false)).toEqual(['public, max-age=10', '9']);
  }
});

test('what an overload says is kept nowhere', async () => {
  const overloaded = endedExpansion('http://a.example/', new ExpansionError('overloaded', 'Too much.'));
  expect(await caching('/api', overloaded, false)).toEqual(['no-store', null]);
});
