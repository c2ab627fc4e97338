import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { startTemporaryProxy, type TemporaryProxy } from '@longhand/deploy/testing/temporary-proxy.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RequestOptions, send } from './testing/send.ts';

/** What an application hears of the client. */
interface Heard {
  client: string;
  scheme: string;
}

const application = http.createServer((request, response) => {
  const { 'x-forwarded-for': client, 'x-forwarded-proto': scheme } = request.headers;
  response.end(JSON.stringify({ client, scheme }));
});
const names = { LONGHAND_EXPANDER_NAME: 'expand.example.org', LONGHAND_TASKS_NAME: 'tasks.example.org' };
const host = names.LONGHAND_TASKS_NAME;
const proxies: TemporaryProxy[] = [];

async function start(networks: string[], variables = {}): Promise<TemporaryProxy> {
  const { port } = application.address() as AddressInfo;
  const server = `127.0.0.1:${port} max_fails=0`;
  const proxy = await startTemporaryProxy({
    LONGHAND_FRONT: networks.join(),
    ...names,
    LONGHAND_EXPANDER_SERVER: server,
    LONGHAND_TASKS_SERVER: server,
    ...variables,
  });
  proxies.push(proxy);
  return proxy;
}

/** The proxy trusts the tests, and a network behind them. */
let trusting: TemporaryProxy;
/** The proxy trusts some front, but not the tests. */
let wary: TemporaryProxy;
beforeAll(async () => {
  await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve));
  const once = { LONGHAND_API_RATE: '1r/m' };
  [trusting, wary] = await Promise.all([start(['127.0.0.0/8', 'fd00::/8'], once), start(['10.0.0.0/8'])]);
});
afterAll(async () => {
  await Promise.all(proxies.map((proxy) => proxy.stop()));
  application.close();
});

async function heard(proxy: TemporaryProxy, headers: RequestOptions['headers'] = {}): Promise<Heard> {
  return JSON.parse((await send(proxy.ports.all, '/', { host, headers })).body);
}
const from = (client: string, scheme = 'https') => ({
  'X-Forwarded-For': client,
  'X-Forwarded-Proto': scheme,
});

describe('Behind a front', () => {
  test.each([
    ['the client that the front names', '203.0.113.7', '203.0.113.7'],
    ['an IPv6 client', '2001:db8::7', '2001:db8::7'],
    ['not what the client has put before it', '198.51.100.1, 203.0.113.7', '203.0.113.7'],
    ['the client before a second front', '203.0.113.7, fd00::1', '203.0.113.7'],
    ['nobody, where the header is no address', 'nonsense', '127.0.0.1'],
  ])('the application hears of %s', async (_, header, client) => {
    expect(await heard(trusting, from(header))).toEqual({ client, scheme: 'https' });
  });

  test.each([
    ['https', 'https', 'max-age=31536000'],
    ['http', 'http', undefined],
    ['javascript', 'http', undefined],
  ])('the scheme is the one of the front: %s', async (said, scheme, hsts) => {
    const headers = from('203.0.113.7', said);
    expect((await heard(trusting, headers)).scheme).toBe(scheme);
    for (const method of ['GET', 'TRACE']) {
      const response = await send(trusting.ports.all, '/', { host, headers, method });
      expect(response.headers['strict-transport-security'], method).toBe(hsts);
    }
  });

  test('the log names the client, not the front', async () => {
    await send(trusting.ports.all, '/logged', { host, headers: from('203.0.113.9') });
    await expect.poll(() => trusting.log.join('\n')).toMatch(/"path":"\/logged".*"client":"203\.0\.113\.9"/);
  });

  test.each([
    ['an address', '203.0.113.20', '203.0.113.20', '203.0.113.21'],
    ['a /64 of IPv6', '2001:db8:0:1::1', '2001:db8:0:1:ffff::2', '2001:db8:0:2::1'],
    ['an address in IPv6 too', '203.0.113.30', '::ffff:203.0.113.30', '::ffff:203.0.113.31'],
  ])('%s has a rate of its own', async (_, first, same, other) => {
    const ask = async (client: string) =>
      (await send(trusting.ports.expander, '/api?u=x', { headers: from(client) })).status;
    expect([await ask(first), await ask(same), await ask(same)]).toEqual([200, 200, 429]);
    expect([await ask(other), await ask(other)]).toEqual([200, 200]);
  });
});

test('from anybody else the headers mean nothing', async () => {
  expect(await heard(wary, from('203.0.113.7'))).toEqual({ client: '127.0.0.1', scheme: 'http' });
  const { headers } = await send(wary.ports.all, '/', { host, headers: from('203.0.113.7') });
  expect(headers['strict-transport-security']).toBeUndefined();
});

test.each([
  ['expander', names.LONGHAND_EXPANDER_NAME, 'all'],
  ['expander', 'expander.localhost', 'all'],
  ['tasks', names.LONGHAND_TASKS_NAME, 'all'],
  ['tasks', 'tasks.localhost', 'all'],
  ['tasks', names.LONGHAND_TASKS_NAME, 'tasks'],
] as const)('%s answers to the name %s, on the port of %s', async (_, host, port) => {
  expect((await send(wary.ports[port], '/', { host })).body).toContain('"scheme"');
});
