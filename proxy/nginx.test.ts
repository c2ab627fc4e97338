import type { Socket } from 'node:net';
import { send, sendRaw, type TestResponse } from '@longhand/shared/testing/send.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { replyWith, scriptedApplication, startProxied } from './testing/proxied.ts';

/** Reduces the default read timeout from 9 s to 1 s. */
const impatient = (text: string) => text.replace('read_timeout 9s', 'read_timeout 1s');

describe('The proxy alone', async () => {
  const application = scriptedApplication();
  const proxy = await startProxied(application.server, { LONGHAND_API_RATE: '5r/s' }, impatient);
  afterAll(proxy.stop);
  const { ports } = proxy;

  /** Sends a request and returns it as the application received it. */
  const forwarded = async (path: string, options = {}) => {
    await send(ports.tasks, path, options);
    const last = application.arrived.at(-1);
    if (!last) throw new Error('The application received no request.');
    return last;
  };

  test.each([
    ...['/a//b', '/a/./b/../c', '/%61%2F%2f', '/?u=http://a.b/c%20d+e&&', '/a;b=c?', '/%E2%80%A8', '/"<>'],
    `/api?u=${'%61'.repeat(2 * 1024)}`,
  ])('forwards a request target byte for byte: %.40s', async (path) => {
    expect((await forwarded(path)).url).toBe(path);
  });

  test.each(['/api%0A', '/api/chain%0A'])('does not decode the line feed in %s', async (path) => {
    await send(ports.expander, path);
    expect(application.arrived.at(-1)?.url).toBe(path);
  });

  test('accepts HTTP/1.0 without Host', async () => {
    expect(await sendRaw(ports.tasks, 'GET / HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
    expect(application.arrived.at(-1)?.headers.host).toBe('tasks.localhost');
  });

  test.each([
    ...['a\\login', 'a\\b.localhost', 'localhost:80\\x', '\xe4.localhost', 'a?b', 'a@b', 'x'.repeat(300)],
  ])('returns 400 for a malformed Host: %s', async (host) => {
    const before = application.arrived.length;
    for (const port of Object.values(ports)) {
      const response = await sendRaw(port, `PUT /x HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      expect(response).toMatch(/^HTTP\/1\.1 400 /);
      expect(response).toContain('The request is malformed.');
    }
    expect(application.arrived).toHaveLength(before);
  });

  const local = [
    ...['localhost', 'tasks.localhost', 'a.localhost', 'nas', 'nas.local', 'nas.internal', 'nas.home.arpa'],
    ...['127.0.0.1', '192.0.2.1', '[::1]', 'nas:8082', 'NAS.local'],
  ];
  const foreign = ['evil.example', '1.2.3.evil', 'localhost.evil.example', 'home.arpa.evil', 'xlocal.net'];
  test.each([...local.map((host) => [200, host] as const), ...foreign.map((host) => [421, host] as const)])(
    'returns %i on the tasks port for Host: %s',
    async (status, host) => {
      expect((await send(ports.tasks, '/', { host })).status).toBe(status);
    },
  );

  test('reuses connections to the application', async () => {
    const first = await forwarded('/');
    const sockets = new Set<Socket>();
    for (let i = 0; i < 20; i += 1) sockets.add((await forwarded('/')).socket);
    expect(first.headers.connection ?? 'keep-alive').toBe('keep-alive');
    // Each nginx worker has a separate connection pool.
    expect(sockets.size).toBeLessThan(20);
  });

  test('a URL list has a longer read timeout than other requests', async () => {
    const late = replyWith({ delay: 1_500 });
    const list = await send(ports.expander, `/api/expand?${late}`, { method: 'POST', body: 'sho.rt/x' });
    expect(list.status).toBe(200);
    expect((await send(ports.expander, `/other?${late}`)).status).toBe(504);
  });

  test('only writes that change many tasks may take longer than 2 s', async () => {
    const late = replyWith({ delay: 3_000 });
    const one = send(ports.tasks, `/tasks/1?${late}`, { method: 'PUT', body: 'title=x' });
    const many = send(ports.tasks, `/tasks/finished?${late}`, { method: 'DELETE' });
    expect([(await one).status, (await many).status]).toEqual([504, 200]);
  });

  test('compresses a large page for clients that accept gzip', async () => {
    const path = `/large?${replyWith({ headers: { 'Content-Type': 'text/html' }, length: 17_000 })}`;
    const gzip = await send(ports.expander, path, { headers: { 'Accept-Encoding': 'gzip' } });
    expect(gzip.headers['content-encoding']).toBe('gzip');
    expect(gzip.headers.vary).toBe('Accept-Encoding');
    expect((await send(ports.expander, path)).headers['content-encoding']).toBeUndefined();
  });

  test.each([
    ['expander', '/api/expand'],
    ['tasks', '/tasks/import'],
  ] as const)(
    'returns 502 if the application resets the connection, even after a large body: %s%s',
    async (name, path) => {
      const large = { method: 'POST', body: 'x'.repeat(100_000) };
      const { status, body } = await send(ports[name], `${path}?${replyWith({ reset: true })}`, large);
      expect(status).toBe(502);
      expect(body).toContain('The application is not responding.');
    },
  );

  test.each([
    ['tasks', '/tasks', 64 * 1024, 'otherwise 64 KiB'],
    ['tasks', '/task', 1152 * 1024, '1 MiB for a list of tasks'],
    ['tasks', '/tasks/import?x', 1152 * 1024, '1 MiB for a list of tasks'],
    ['expander', '/api/expand', 8 * 1024 ** 2, '8 MiB for a list of URLs'],
  ] as const)(
    'a request to %s%s over %i bytes returns 413 with the limit',
    async (name, path, limit, words) => {
      const headers = { 'Content-Length': limit + 1 };
      // The body is never sent.
      const { status, body } = await send(ports[name], path, { method: 'POST', headers });
      expect(status).toBe(413);
      expect(body).toContain('The request is too large.');
      expect(body).toContain(words);
    },
  );

  test('requests above LONGHAND_API_RATE receive 429 with Retry-After', async () => {
    // Use another address, because other tests use up the rate limit of 127.0.0.1.
    const ask = (path: string) => send(ports.expander, path, { localAddress: '127.0.0.2' });
    const responses: TestResponse[] = [];
    for (let i = 0; i < 12; i += 1) responses.push(await ask('/api?u=x'));
    const refused = responses.filter(({ status }) => status === 429);
    expect(responses.slice(0, 6).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    expect(refused.length).toBeGreaterThan(0);
    const expected = { 'retry-after': '1', 'x-power-by': 'Longhand', 'content-type': 'text/html' };
    for (const { headers, body } of refused) {
      expect(headers).toMatchObject({ ...expected, 'access-control-allow-origin': '*' });
      expect(body).toMatch(/Too many requests from your address\..*Wait a second, then try again\./s);
    }
    // On a slow machine, nginx may allow one more request.
    await expect.poll(async () => (await ask('/?u=x')).status, { interval: 1 }).toBe(429);
    expect((await ask('/nowhere')).status).toBe(200);
  });
});
