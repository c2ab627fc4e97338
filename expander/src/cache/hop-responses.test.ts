import { expect, onTestFinished, test, vi } from 'vitest';
import { hopRequest } from '../../testing/hop-request.ts';
import { responseWith } from '../../testing/response.ts';
import { followRedirects } from '../expansion/chain.ts';
import { createExpand } from '../expansion/expand.ts';
import type { Follow, HopRequest, HopResponse } from '../expansion/expansion.ts';
import { cacheHopResponses } from './hop-responses.ts';

/** Creates a cache with a fake clock, for responses that are fresh for 10 minutes. `requested` lists the cache misses. */
function caching(respond: (url: URL) => Partial<HopResponse> | Promise<Partial<HopResponse>>) {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const requested: string[] = [];
  const cached = cacheHopResponses()(async (url, { chain: { follow } }) => {
    requested.push(`${follow} ${url.href}`);
    return responseWith({ freshUntil: Date.now() + 600_000, ...(await respond(url)) });
  });
  const fetchHop = (
    path: string,
    follow: Follow = 'default',
    headers: Pick<HopRequest, 'cookie' | 'referer'> = {},
  ) => cached(new URL(path, 'http://a.example'), hopRequest({ follow }, headers));
  const { chain } = createExpand(followRedirects(cached));
  return { requested, fetchHop, expand: (path: string) => chain(`http://a.example${path}`) };
}

test('chains share hops without extending their lifetime', async () => {
  const targets: Record<string, string> = { '/one': '/shared', '/two': '/shared', '/shared': '/end' };
  const { expand, requested } = caching(({ pathname }) => ({
    status: pathname === '/end' ? 200 : 301,
    location: targets[pathname] ?? null,
  }));
  const { freshUntil } = await expand('/one');
  vi.advanceTimersByTime(5 * 60_000);
  const { hops, ...second } = await expand('/two');
  expect(requested).toEqual(
    ['/one', '/shared', '/end', '/two'].map((path) => `default http://a.example${path}`),
  );
  expect(hops.map((hop) => hop.cached)).toEqual([false, true, true]);
  expect(second).toMatchObject({ cached: false, freshUntil });
  expect(await expand('/one#part')).toMatchObject({ cached: true });
});

test('a redirect that cannot be followed is not cached, so that its repair is noticed', async () => {
  const targets = [null, 'http://[', 'mailto:a@b.example', '/page'];
  const { expand, requested } = caching(({ pathname }) =>
    pathname === '/broken' ? { status: 301, location: targets.shift() ?? null } : { status: 200 },
  );
  const ends: string[] = [];
  for (const _ of [...targets]) ends.push((await expand('/broken')).end.code);
  expect(ends).toEqual(['no_location', 'malformed_location', 'unsupported_scheme', 'final']);
  await expand('/broken');
  expect(requested.filter((request) => request.endsWith('/broken'))).toHaveLength(4);
});

test('each follow mode has its own responses', async () => {
  const { fetchHop, requested } = caching(() => ({}));
  for (const follow of ['default', 'all', 'default', 'all'] as const) await fetchHop('/', follow);
  expect(requested).toEqual(['default http://a.example/', 'all http://a.example/']);
});

test.each([{ cookie: 'a=1' }, { referer: 'http://a.example/' }])(
  'a request with %j does not use the cache',
  async (headers) => {
    const { fetchHop, requested } = caching(() => ({}));
    for (const sent of [headers, {}, headers, {}]) await fetchHop('/', 'default', sent);
    expect(requested).toHaveLength(3);
  },
);

test('a response plus its URL has at most 2 KiB', async () => {
  const { fetchHop, requested } = caching(() => ({}));
  const urls = [2_048, 2_048, 2_049, 2_049].map((length) => 'http://a.example/'.padEnd(length, 'x'));
  for (const url of urls) await fetchHop(url);
  expect(requested).toEqual([urls[0], urls[2], urls[2]].map((url) => `default ${url}`));
});

test('a failure does not replace the fresh response to a concurrent request', async () => {
  const failure = Promise.withResolvers<Partial<HopResponse>>();
  const responses = [failure.promise, { status: 200 }];
  const { fetchHop } = caching(() => responses.shift() ?? { status: 404 });
  const failed = fetchHop('/');
  await fetchHop('/');
  failure.resolve({ status: 503 });
  await failed;
  expect(await fetchHop('/')).toMatchObject({ status: 200, cached: true });
});
