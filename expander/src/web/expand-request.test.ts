import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { testExpander } from '../../testing/expander.ts';
import { answerTo, ask, serving, tracing } from '../../testing/serving.ts';
import { endedExpansion } from '../expansion/chain.ts';
import { ExpansionError } from '../expansion/errors.ts';
import { isOwnRequest } from './expand-request.ts';

test.each(['/api', '/api/chain', '/'])(
  "a URL that nests the expander's own address causes only one request: %s",
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

describe('a request with our name in CDN-Loop', () => {
  const request = (path: string, method = 'GET') =>
    testExpander().app.request(path, { method, headers: { 'CDN-Loop': 'other.example, longhand' } });

  test.each([
    ['/?u=http://a.example/', 'GET'],
    ['/api?u=http://a.example/', 'GET'],
    ['/api/chain?u=http://a.example/', 'GET'],
    ['/api/expand', 'POST'],
  ])('returns 403 with no-store: %s', async (path, method) => {
    const response = await request(path, method);
    const { status, headers } = response;
    const head = [status, headers.get('cache-control'), headers.get('x-accel-expires')];
    expect(head).toEqual([403, 'no-store', null]);
    expect(await response.text()).toContain('This URL points back to this service.');
  });

  test('returns the page if u is missing', async () => {
    expect((await request('/')).status).toBe(200);
  });
});

test.each([
  ['longhand', true],
  ['Longhand', true],
  ['a.example:80; v=1,\tlonghand; hops="1"', true],
  ['', false],
  ['notlonghand', false],
  ['a.example; longhand', false],
])('isOwnRequest(%j) returns %s', (field, named) => {
  expect(isOwnRequest(field)).toBe(named);
});

const down = endedExpansion('x', new ExpansionError('request_failed', 'It is down.'));

test.each(['/', '/api', '/api/chain'])('logs the code of an error: %s', async (path) => {
  const { url, lines } = await tracing(async () => down);
  await text(await answerTo(ask(url, `${path}?u=http://a.example/`)));
  await expect.poll(() => lines).toMatchObject([{ path, status: 502, error: 'request_failed' }]);
});
