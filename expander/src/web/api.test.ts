import { text } from 'node:stream/consumers';
import type { Context } from 'hono';
import { describe, expect, test } from 'vitest';
import { testExpander } from '../../testing/expander.ts';
import { answerTo, ask, serving, tracing } from '../../testing/serving.ts';
import { endedExpansion } from '../expansion/chain.ts';
import { ExpansionError } from '../expansion/errors.ts';
import { addressOf, isOwnRequest } from './api.ts';

test.each(['/api', '/api/chain', '/'])(
  "a URL that nests the expander's own address costs one request: %s",
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
    const { 'cache-control': cacheControl, 'x-accel-expires': expires } = response.headers;
    return { head: [response.statusCode, cacheControl, expires], body: await text(response) };
  };

  test.each([
    ['/?u=http://a.example/', undefined],
    ['/api?u=http://a.example/', undefined],
    ['/api/chain?u=http://a.example/', undefined],
    ['/api/expand', 'http://a.example/'],
  ])('is target_refused, and never cached: %s', async (path, list) => {
    const { head, body } = await refused(path, list);
    expect(head).toEqual([403, 'no-store', undefined]);
    expect(body).toContain('This URL points back to this service.');
    if (path.startsWith('/api/chain')) expect(JSON.parse(body).error.code).toBe('target_refused');
  });

  test('still gets the page without u', async () => {
    expect((await refused('/')).head[0]).toBe(200);
  });
});

test.each([
  ['longhand', true],
  ['Longhand', true],
  ['a.example:80; v=1,\tlonghand; hops="1"', true],
  ['', false],
  ['notlonghand', false],
  ['a.example; longhand', false],
])('CDN-Loop: %s names an expander: %s', (field, named) => {
  expect(isOwnRequest(field)).toBe(named);
});

const request = (forwardedFor: string | undefined, remoteAddress?: string) =>
  ({
    req: { header: () => forwardedFor },
    env: { incoming: { socket: { remoteAddress } } },
  }) as unknown as Context;

test.each([
  ['the address that the proxy states', '192.0.2.1', '127.0.0.1', '192.0.2.1'],
  ['else the address of the connection', undefined, '127.0.0.1', '127.0.0.1'],
  ['the connection, if what is stated is not an address', 'x'.repeat(10_000), '127.0.0.1', '127.0.0.1'],
  ['the connection, if several addresses are stated', '192.0.2.1, 192.0.2.2', '127.0.0.1', '127.0.0.1'],
  ['IPv4 on a socket for both families', undefined, '::ffff:192.0.2.1', '192.0.2.1'],
  // In decimal: 2001:db8:0:1.
  ['the /64 network of an IPv6 address', '2001:db8:0:1:2:3:4:5', '::1', '8193:3512:0:1'],
])('a client is %s', (_, forwardedFor, remoteAddress, client) => {
  expect(addressOf(request(forwardedFor, remoteAddress))).toBe(client);
});

const down = endedExpansion('x', new ExpansionError('request_failed', 'It is down.'));

test.each(['/', '/api', '/api/chain'])('the log line of an error has its code: %s', async (path) => {
  const { url, lines } = await tracing(async () => down);
  await text(await answerTo(ask(url, `${path}?u=http://a.example/`)));
  await expect.poll(() => lines).toMatchObject([{ path, status: 502, error: 'request_failed' }]);
});
