import { describe, expect, test } from 'vitest';
import { testExpander } from '../../testing/expander.ts';
import { answerTo, ask, serving } from '../../testing/serving.ts';
import { isOwnRequest } from './api.ts';

test.each(['/api', '/api/chain', '/'])(
  'a URL that nests the address of the expander itself costs one request there: %s',
  async (path) => {
    const { url, lines } = await serving(testExpander().app);
    const { origin } = new URL(url);
    let u = url;
    for (let depth = 0; depth < 6; depth += 1) u = `${origin}${path}?u=${encodeURIComponent(u)}&${depth}`;
    const response = await fetch(`${origin}/api?u=${encodeURIComponent(u)}`);
    expect([response.status, await response.text()]).toEqual([200, u]);
    const requests = () => lines.filter(({ msg }) => msg === 'request').map(({ status }) => status);
    await expect.poll(requests).toEqual([403, 200]);
  },
);

describe('a request that names an expander in CDN-Loop', () => {
  const refused = async (path: string, body?: string) => {
    const { url } = await serving(testExpander().app);
    const response = await answerTo(ask(url, path, body, { 'CDN-Loop': 'other.example, longhand' }));
    const text = (await response.toArray()).join('');
    return { status: response.statusCode, headers: response.headers, text };
  };

  test.each([
    ['/?u=http://a.example/', undefined],
    ['/api?u=http://a.example/', undefined],
    ['/api/chain?u=http://a.example/', undefined],
    ['/api/expand', 'http://a.example/'],
  ])('is a target_refused that no cache keeps: %s', async (path, body) => {
    const { status, headers, text } = await refused(path, body);
    expect([status, headers['cache-control'], headers['x-accel-expires']]).toEqual([
      403,
      'no-store',
      undefined,
    ]);
    expect(text).toContain('This URL points back to this service.');
    if (path.startsWith('/api/chain')) expect(JSON.parse(text).error.code).toBe('target_refused');
  });

  test('gets the page where there is nothing to expand', async () => {
    expect((await refused('/')).status).toBe(200);
  });
});

test.each([
  ['longhand', true],
  ['Longhand', true],
  ['a.example:80; v=1,\tlonghand; hops="1"', true],
  ['', false],
  ['notlonghand', false],
  ['a.example; longhand', false],
  ['a; x="\\", longhand, "', false],
  ['a; x=", longhand', true],
])('CDN-Loop: %s names an expander: %s', (field, named) => {
  expect(isOwnRequest(field)).toBe(named);
});
