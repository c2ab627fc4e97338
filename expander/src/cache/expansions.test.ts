import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { responseWith } from '../../testing/response.ts';
import { followRedirects } from '../expansion/chain.ts';
import { ExpansionError } from '../expansion/errors.ts';
import { type ChainOptions, createExpand } from '../expansion/expand.ts';
import type { Expansion, FetchHop, HopResponse } from '../expansion/expansion.ts';
import { singleFlight } from '../limits/single-flight.ts';
import { asCached, cacheExpansions, memoryTier, type SharedCache } from './expansions.ts';
import { cacheHopResponses } from './hop-responses.ts';

type Web = Record<string, Partial<HopResponse> | ExpansionError>;
const minutes = (n: number) => n * 60_000;

/** Creates an expander with caches and a fake clock. `requested` lists the paths of requests to `pages`. */
function remembering(pages: Web, fresh = 10, redis?: SharedCache) {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const requested: string[] = [];
  const fetchHop: FetchHop = async ({ pathname }) => {
    requested.push(pathname);
    const response = pages[pathname] ?? { status: 200 };
    if (response instanceof Error) throw response;
    return responseWith({ status: 301, freshUntil: Date.now() + minutes(fresh), ...response });
  };
  const follow = followRedirects(cacheHopResponses()(fetchHop));
  const { chain: expand } = createExpand(cacheExpansions(singleFlight, redis)(follow));
  return {
    requested,
    pages,
    expand: (path: string, options?: ChainOptions) => expand(`http://a.example${path}`, options),
  };
}

/** Creates a cache that all replicas share, in place of Redis. */
function sharedCache() {
  const texts = new Map<string, string>();
  const redis: SharedCache = {
    get: async (key) => {
      const text = texts.get(key);
      return text === undefined ? null : { expansion: asCached(JSON.parse(text)), text };
    },
    set: (key, text) => void texts.set(key, text),
  };
  return { texts, redis };
}

describe('the memory tier', () => {
  test('serves the second request and marks every hop as cached', async () => {
    const { expand, requested } = remembering({ '/short': { location: '/long' } });
    expect(await expand('/short')).toMatchObject({ cached: false });
    const again = await expand('/short');
    expect(again).toMatchObject({ cached: true, redirectCount: 1, longUrl: 'http://a.example/long' });
    expect(again.hops.map(({ cached }) => cached)).toEqual([true, true]);
    expect(requested).toEqual(['/short', '/long']);
  });

  test('is bypassed by a retry but stores its result', async () => {
    const { expand, requested } = remembering({ '/short': { location: '/long' } });
    await expand('/short');
    expect(await expand('/short', { again: true })).toMatchObject({ cached: false });
    expect(requested).toEqual(['/short', '/long', '/short', '/long']);
    expect(await expand('/short')).toMatchObject({ cached: true });
  });

  test.each([
    ['fails', new ExpansionError('request_failed', 'It is down.'), 'request_failed'],
    ['ends with status 503', { status: 503 }, 'final'],
  ])('keeps a usable result if a retry %s', async (_, failure, code) => {
    const { expand, pages } = remembering({ '/short': { location: '/long' } });
    await expand('/short');
    pages['/long'] = failure;
    expect(await expand('/short', { again: true })).toMatchObject({ cached: false, end: { code } });
    for (const path of ['/short', '/long'])
      expect((await expand(path)).hops.at(-1)).toMatchObject({ status: 200 });
    vi.advanceTimersByTime(minutes(11));
    expect((await expand('/short')).hops.at(-1)).toMatchObject({ status: 200 });
  });

  test('stores 503 responses and errors other than `overloaded` for 30 s', async () => {
    const pages: Web = {
      '/down': new ExpansionError('request_failed', 'It is down.'),
      '/busy': new ExpansionError('overloaded', 'We are busy.'),
      '/ill': { status: 503, freshUntil: Date.now() + 30_000 },
    };
    const { expand, requested } = remembering(pages);
    for (const path of ['/down', '/down', '/busy', '/busy', '/ill', '/ill']) await expand(path);
    expect(requested).toEqual(['/down', '/busy', '/busy', '/ill']);
    vi.advanceTimersByTime(30_001);
    for (const path of ['/down', '/ill']) {
      pages[path] = { status: 200 };
      expect((await expand(path)).hops).toMatchObject([{ status: 200 }]);
    }
  });

  test('does not store an entry of more than 64 KiB', async () => {
    const pages = Object.fromEntries(
      Array.from({ length: 5 }, (_, i) => [`/${i}`, { location: `/${i + 1}?${'x'.repeat(16_000)}` }]),
    );
    const { expand } = remembering(pages);
    await expand('/0');
    expect(await expand('/0')).toMatchObject({ cached: false, redirectCount: 5 });
  });
});

describe('a stale entry', () => {
  test('is served at once and refreshed in the background', async () => {
    const pages: Web = { '/short': { location: '/old' } };
    const { expand } = remembering(pages);
    await expand('/short');
    pages['/short'] = { location: '/new' };
    vi.advanceTimersByTime(minutes(11));
    expect(await expand('/short')).toMatchObject({ cached: true, longUrl: 'http://a.example/old' });
    await vi.waitFor(async () => expect((await expand('/short')).longUrl).toBe('http://a.example/new'));
  });

  test.each([
    ['fails', () => new ExpansionError('request_failed', 'It is down.')],
    ['ends with status 503', () => ({ status: 503, freshUntil: Date.now() + minutes(11.5) })],
  ])('is kept if a refresh %s, and refreshed again 30 s later', async (_, failure) => {
    const { expand, pages, requested } = remembering({ '/short': { location: '/long' } });
    await expand('/short');
    pages['/long'] = failure();
    vi.advanceTimersByTime(minutes(11));
    requested.length = 0;
    for (let i = 0; i < 50; i += 1)
      expect(await expand('/short')).toMatchObject({ error: null, hops: [{ status: 301 }, { status: 200 }] });
    expect(requested).toEqual(['/short', '/long']);
    vi.advanceTimersByTime(30_001);
    await expand('/short');
    await vi.waitFor(() => expect(requested).toEqual(['/short', '/long', '/short', '/long']));
  });

  test('is kept if another replica has cached a failure in Redis', async () => {
    const { redis, texts } = sharedCache();
    const pages: Web = {};
    const [one, other] = [remembering(pages, 10, redis), remembering(pages, 10, redis)];
    await one.expand('/short');
    texts.clear();
    pages['/short'] = new ExpansionError('request_failed', 'It is down.');
    vi.advanceTimersByTime(minutes(11));
    await other.expand('/short');
    await one.expand('/short');
    await vi.waitFor(() => expect(one.requested).toHaveLength(2));
    expect((await one.expand('/short')).error).toBeNull();
  });

  test.each([
    ['10 minutes later, if it was fresh for longer', 60, 71],
    ['sooner, if it was fresh for a shorter time', 0.5, 1.1],
  ])('is forgotten %s', async (_, fresh, later) => {
    const { expand, pages } = remembering({ '/short': { location: '/old' } }, fresh);
    await expand('/short');
    pages['/short'] = { location: '/new' };
    vi.advanceTimersByTime(minutes(later));
    expect(await expand('/short')).toMatchObject({ cached: false, longUrl: 'http://a.example/new' });
  });
});

test('identical concurrent requests share one Redis lookup and one chain', async () => {
  const { redis } = sharedCache();
  const get = vi.spyOn(redis, 'get');
  const { expand, requested } = remembering({}, 10, redis);
  await Promise.all([expand('/short'), expand('/short')]);
  expect(get).toHaveBeenCalledOnce();
  expect(requested).toEqual(['/short']);
});

test('an entry in Redis survives a failed retry of another replica, and is refreshed once it is stale', async () => {
  const { redis } = sharedCache();
  const pages: Web = {};
  const replica = () => remembering(pages, 10, redis);
  const [one, other, third] = [replica(), replica(), replica()];
  await one.expand('/short');
  pages['/short'] = new ExpansionError('request_failed', 'It is down.');
  expect((await other.expand('/short', { again: true })).error).not.toBeNull();
  vi.advanceTimersByTime(minutes(11));
  expect(await third.expand('/short')).toMatchObject({ cached: true, error: null });
  await vi.waitFor(() => expect(third.requested).toEqual(['/short']));
});

test.each([
  ['one-byte', 'x', 1],
  ['two-byte', '\u0457', 2],
])('the memory tier stores 32 MiB of %s characters', (_, character, bytes) => {
  const { set, get } = memoryTier();
  const keys = Array.from({ length: 1_000 }, (_, i) => `${i}`);
  const text = character.repeat(40_000);
  for (const key of keys) set(key, { longUrl: key } as Expansion, text);
  const kept = keys.filter((key) => get(key)?.longUrl === key);
  expect(kept).toHaveLength(Math.min(Math.floor((32 * 1024 * 1024) / (40_000 * bytes + 203)), 1_000));
  expect(kept.at(-1)).toBe('999');
});
