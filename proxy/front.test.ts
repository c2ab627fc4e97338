import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { TemporaryProxy } from '@longhand/deploy/testing/temporary-proxy.ts';
import { type RequestOptions, send } from '@longhand/shared/testing/send.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { logged, scriptedApplication, startProxied } from './testing/proxied.ts';

const names = { LONGHAND_EXPANDER_NAME: 'expand.example.org', LONGHAND_TASKS_NAME: 'tasks.example.org' };
const host = names.LONGHAND_TASKS_NAME;
const proxies: TemporaryProxy[] = [];

async function start(networks: string[], variables = {}): Promise<TemporaryProxy> {
  const { server } = scriptedApplication();
  const proxy = await startProxied(server, { LONGHAND_FRONT: networks.join(), ...names, ...variables });
  proxies.push(proxy);
  return proxy;
}

/** A proxy that trusts the test client and an IPv6 network. */
const trusting = await start(['127.0.0.0/8', 'fd00::/8'], { LONGHAND_API_RATE: '1r/m' });
/** A proxy that trusts a front but not the test client. */
const wary = await start(['10.0.0.0/8']);
afterAll(() => Promise.all(proxies.map((proxy) => proxy.stop())));

/** Returns the client and the scheme that the application receives. */
async function forwarded(proxy: TemporaryProxy, headers: RequestOptions['headers']) {
  const { body } = await send(proxy.ports.all, '/', { host, headers });
  const { 'x-forwarded-for': client, 'x-forwarded-proto': scheme } = JSON.parse(
    body.slice('received '.length),
  ).headers;
  return { client, scheme };
}
const from = (client: string, scheme = 'https') => ({
  'X-Forwarded-For': client,
  'X-Forwarded-Proto': scheme,
});

describe('Behind a front', () => {
  test.each([
    ['an IPv4 client', '203.0.113.7', '203.0.113.7'],
    ['an IPv6 client', '2001:db8::7', '2001:db8::7'],
    ['the client, not a forged address', '198.51.100.1, 203.0.113.7', '203.0.113.7'],
    ['the client behind two fronts', '203.0.113.7, fd00::1', '203.0.113.7'],
    ["the front's own address if the header is invalid", 'nonsense', '127.0.0.1'],
  ])('the application receives %s', async (_, header, client) => {
    expect(await forwarded(trusting, from(header))).toEqual({ client, scheme: 'https' });
  });

  test.each([
    ['https', 'https', 'max-age=31536000'],
    ['http', 'http', undefined],
    ['javascript', 'http', undefined],
  ])('X-Forwarded-Proto: %s means %s', async (sent, scheme, hsts) => {
    const headers = from('203.0.113.7', sent);
    expect((await forwarded(trusting, headers)).scheme).toBe(scheme);
    for (const method of ['GET', 'TRACE']) {
      const response = await send(trusting.ports.all, '/', { host, headers, method });
      expect(response.headers['strict-transport-security'], method).toBe(hsts);
    }
  });

  test.each([
    ['ada@example.org', 'ada@example.org'],
    ['Ada "Countess" Lovelace', 'Ada "Countess" Lovelace'],
    ['\u009b2J', ''],
    ['', ''],
  ])('the log contains the client and the user: %j', async (name, user) => {
    const headers = { ...from('203.0.113.9'), 'X-Forwarded-User': name };
    const response = await send(trusting.ports.all, '/', { host, headers });
    expect(await logged(() => trusting.log, response)).toMatchObject({ client: '203.0.113.9', user });
  });

  test.each([
    ['IPv4 address', '203.0.113.20', '203.0.113.20', '203.0.113.21'],
    ['IPv6 /64 network', '2001:db8:0:1::1', '2001:db8:0:1:ffff::2', '2001:db8:0:2::1'],
    ['IPv4-mapped address', '203.0.113.30', '::ffff:203.0.113.30', '::ffff:203.0.113.31'],
  ])('each %s has its own rate limit', async (_, first, same, other) => {
    const ask = async (client: string) =>
      (await send(trusting.ports.expander, '/api?u=x', { headers: from(client) })).status;
    expect([await ask(first), await ask(same), await ask(same)]).toEqual([200, 200, 429]);
    expect([await ask(other), await ask(other)]).toEqual([200, 200]);
  });
});

test('nginx ignores forwarding headers from untrusted clients', async () => {
  expect(await forwarded(wary, from('203.0.113.7'))).toEqual({ client: '127.0.0.1', scheme: 'http' });
  const headers = { ...from('203.0.113.7'), 'X-Forwarded-User': 'ada' };
  const response = await send(wary.ports.all, '/', { host, headers });
  expect(response.headers['strict-transport-security']).toBeUndefined();
  expect(await logged(() => wary.log, response)).toMatchObject({ client: '127.0.0.1', user: '' });
});

test.each([
  ['expander', names.LONGHAND_EXPANDER_NAME, 'all'],
  ['expander', 'expander.localhost', 'all'],
  ['tasks', names.LONGHAND_TASKS_NAME, 'all'],
  ['tasks', 'tasks.localhost', 'all'],
  ['tasks', names.LONGHAND_TASKS_NAME, 'tasks'],
] as const)('%s responds to Host: %s on the `%s` port', async (_, host, port) => {
  expect((await send(wary.ports[port], '/', { host })).body).toContain('x-forwarded-proto');
});

describe('The front page links to', () => {
  const links = async (proxy: TemporaryProxy, options: RequestOptions) =>
    [...(await send(proxy.ports.all, '/', options)).body.matchAll(/href="(http[^"]+)"/g)].map(
      ([, href = '']) => href.replaceAll(`${proxy.ports.all}`, 'all'),
    );

  test('the configured host names, with the scheme and port of the request', async () => {
    const host = `192.0.2.5:${trusting.ports.all}`;
    expect(await links(trusting, { host })).toEqual([
      'http://expand.example.org:all/',
      'http://tasks.example.org:all/',
    ]);
    expect(await links(trusting, { host: 'other.example', headers: from('203.0.113.7') })).toEqual([
      'https://expand.example.org/',
      'https://tasks.example.org/',
    ]);
  });

  test.each([
    ['443', 'https://tasks.example.org'],
    ['9443', 'https://tasks.example.org:9443'],
  ])('the configured names over HTTPS if LONGHAND_HTTPS_PORT is %s', (port, address) => {
    const variables = { LONGHAND_TASKS_NAME: host, LONGHAND_HTTPS_PORT: port, LONGHAND_API_RATE: '1r/s' };
    const ports = { LONGHAND_EXPANDER_PORT: '8081', LONGHAND_TASKS_PORT: '8082' };
    const script = '. "$0"; echo "$LONGHAND_EXPANDER_ADDRESS $LONGHAND_TASKS_ADDRESS"';
    const env = { PATH: process.env.PATH, ...variables, ...ports };
    const derived = execFileSync('sh', ['-euc', script, join(import.meta.dirname, 'derived.envsh')], { env });
    expect(`${derived}`).toBe(`http://$host:8081 ${address}\n`);
  });

  test.each(['[::1]', 'nas.lan', '192.0.2.5'])('ports on %s if no names are configured', async (host) => {
    const proxy = await start([], { LONGHAND_EXPANDER_NAME: '', LONGHAND_TASKS_NAME: '' });
    const { all, expander, tasks } = proxy.ports;
    expect(await links(proxy, { host: `${host}:${all}` })).toEqual([
      `http://${host}:${expander}/`,
      `http://${host}:${tasks}/`,
    ]);
  });
});

test("a short link in a task redirects to the expander with the request's scheme and port", async () => {
  const redirect = async (port: 'all' | 'tasks', options: RequestOptions) =>
    (await send(trusting.ports[port], '/expand?u=http%3A%2F%2Fbit.ly%2Fx%3Fa%3D%22', options)).headers
      .location;
  const query = '/?u=http%3A%2F%2Fbit.ly%2Fx%3Fa%3D%22';
  expect(await redirect('all', { host, headers: from('203.0.113.7') })).toBe(
    `https://expand.example.org${query}`,
  );
  for (const port of ['all', 'tasks'] as const) {
    const options = { host: `${host}:${trusting.ports[port]}` };
    expect(await redirect(port, options)).toBe(`http://expand.example.org:${trusting.ports.all}${query}`);
  }
});
