import { expect, test } from 'vitest';
import { responseWith } from '../../testing/response.ts';
import { followRedirects } from './chain.ts';
import { createExpand } from './expand.ts';
import { type StrictTransport, strictHosts } from './strict-transport.ts';

// browsers.browser.test.ts tests more headers.
test.each<[string, StrictTransport, string, string | null]>([
  ['https://a.example/', 'host', 'http://a.example:80/x#y', 'https://a.example/x#y'],
  ['https://a.example:8443/', 'host', 'http://a.example:8080/', 'https://a.example:8080/'],
  ['https://a.example/', 'subdomains', 'http://b.c.a.example/', 'https://b.c.a.example/'],
  ['https://a.example/', 'host', 'http://b.a.example/', null],
  ['http://a.example/', 'host', 'http://a.example/', null],
  ['https://127.0.0.1/', 'host', 'http://127.0.0.1/', null],
  ['https://[::1]/', 'host', 'http://[::1]/', null],
])('a policy of %s (%s) upgrades %s to %s', (from, strictTransport, url, upgraded) => {
  const hosts = strictHosts();
  hosts.keep(strictTransport, new URL(from));
  expect(hosts.upgraded(new URL(url))?.href ?? null).toBe(upgraded);
  hosts.keep('none', new URL(from));
  expect(hosts.upgraded(new URL(url))).toBeNull();
});

test('an HSTS hop is neither requested nor counted as a redirect', async () => {
  const requests: string[] = [];
  const freshUntil = Date.now() + 86_400_000;
  const follow = followRedirects(async ({ href }) => {
    requests.push(href);
    const isEnd = href === 'https://a.example/end';
    const redirect = { status: 301, location: 'http://a.example/end', strictTransport: 'host' } as const;
    return responseWith({ freshUntil, ...(isEnd ? {} : redirect) });
  });
  const expansion = await createExpand(follow).chain('https://a.example/', { follow: 'all' });
  expect(requests).toEqual(['https://a.example/', 'https://a.example/end']);
  expect(expansion).toMatchObject({ longUrl: 'https://a.example/end', redirectCount: 1 });
  const { hops } = expansion;
  expect(hops.map(({ url, kind, status }) => [url, kind, status])).toEqual([
    ['https://a.example/', '301', 301],
    ['http://a.example/end', 'hsts', null],
    ['https://a.example/end', null, 200],
  ]);
  expect(expansion.freshUntil).toBeLessThan(Date.now() + 601_000);
});
