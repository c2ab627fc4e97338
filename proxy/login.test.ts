import { startTemporaryProxy } from '@longhand/deploy/testing/temporary-proxy.ts';
import { send } from '@longhand/shared/testing/send.ts';
import { textFile } from '@longhand/shared/testing/text-file.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { obedientApplication, startProxied } from './testing/proxied.ts';
import { startReplicas } from './testing/replicas.ts';

describe('The login limit', async () => {
  const application = obedientApplication();
  const proxy = await startProxied(application.server, { LONGHAND_FRONT: '127.0.0.1/32' });
  afterAll(proxy.stop);

  const attempt = (client: string, headers = {}, path = '/login', method = 'POST') =>
    send(proxy.ports.tasks, path, { method, headers: { 'X-Forwarded-For': client, ...headers }, body: 'x' });

  test('is five attempts per client; the sixth response is 429 with Retry-After', async () => {
    for (let i = 0; i < 5; i++) expect((await attempt('192.0.2.1')).status).toBe(200);
    const page = await attempt('192.0.2.1');
    expect(page.status).toBe(429);
    expect(page.headers['retry-after']).toBe('12');
    expect(page.headers['cache-control']).toBe('no-store');
    expect(page.body).toContain('Too many attempts to log in from your address');
    expect(page.body).not.toContain('Back button');
    const problem = await attempt('192.0.2.1', { Accept: 'application/json' });
    expect(JSON.parse(problem.body)).toMatchObject({ status: 429, code: 'too_many_requests' });
    expect(JSON.parse(problem.body).detail).toMatch(/^Too many attempts to log in/);
    expect(application.arrived).toHaveLength(5);

    // It counts attempts of one client; an IPv6 client is its network.
    expect((await attempt('192.0.2.1', {}, '/login', 'GET')).status).toBe(200);
    expect((await attempt('192.0.2.1', {}, '/task')).status).toBe(200);
    expect((await attempt('192.0.2.2')).status).toBe(200);
    for (let i = 0; i < 5; i++) await attempt(`2001:db8::${i}`);
    expect((await attempt('2001:db8::9')).status).toBe(429);
  });

  test('does not count requests of other sites', async () => {
    for (const site of ['cross-site', 'same-site']) {
      for (let i = 0; i < 6; i++) await attempt('192.0.2.4', { 'Sec-Fetch-Site': site });
    }
    expect((await attempt('192.0.2.4')).status).toBe(200);
  });

  test('counts each request that tasks may accept', async () => {
    const origins = ['same-origin', '\tsame-origin', 'same-origin\t', 'Same-Origin'];
    for (const [n, site] of [...origins, 'none', '', 'cross-site, none'].entries()) {
      const ask = async () => (await attempt(`198.51.100.${n}`, { 'Sec-Fetch-Site': site })).status;
      for (let i = 0; i < 5; i++) await ask();
      expect([site, await ask()]).toEqual([site, 429]);
    }
  });

  test.each(['/login?x', '/%6cogin', '/x/../login', '/./login', '/x/%2e%2e/login'])(
    'also applies to %s',
    async (path) => {
      for (let i = 0; i < 5; i++) await attempt('192.0.2.3');
      expect((await attempt('192.0.2.3', {}, path)).status).toBe(429);
    },
  );
});

describe('A password with two replicas', async () => {
  const replicas = await startReplicas('tasks', {
    TASKS_PASSWORD_FILE: textFile('open sesame\n'),
    TASKS_TOKENS_FILE: textFile('backup t0ken\n'),
  });
  afterAll(replicas.stop);
  const proxy = await startTemporaryProxy({
    LONGHAND_FRONT: '127.0.0.1/32',
    LONGHAND_TASKS_SERVER: replicas.server,
  });
  afterAll(proxy.stop);
  const port = proxy.ports.tasks;

  const json = { Accept: 'application/json' };

  test('starts a session for both, with a __Host- cookie over TLS', async () => {
    for (const [scheme, prefix] of [
      ['http', ''],
      ['https', '__Host-'],
    ] as const) {
      const headers = { 'X-Forwarded-Proto': scheme, 'X-Forwarded-For': '192.0.2.7' };
      const form = await send(port, '/login', { headers });
      const session = `${form.headers['set-cookie']}`.split(';')[0];
      const _csrf = form.body.match(/name="_csrf" value="([^"]+)"/)?.[1] ?? '';
      const response = await send(port, '/login', {
        method: 'POST',
        headers: { ...headers, Cookie: session, 'Content-Type': 'application/x-www-form-urlencoded' },
        body: `${new URLSearchParams({ password: 'open sesame', _csrf, next: '/tasks' })}`,
      });
      expect([response.status, response.headers.location]).toEqual([303, '/tasks']);
      const cookie = `${response.headers['set-cookie']}`;
      expect(cookie.startsWith(`${prefix}login=`)).toBe(true);
      expect(cookie.includes('Secure')).toBe(scheme === 'https');
      const Cookie = cookie.split(';')[0];
      for (let i = 0; i < 8; i++) {
        expect((await send(port, '/', { headers: { ...headers, Cookie } })).status).toBe(200);
      }
    }
  });

  test('responds 401 before anything else, and accepts tokens', async () => {
    const events = await send(port, '/tasks/events', { headers: { Accept: 'text/event-stream' } });
    expect([events.status, events.headers['content-type']]).toEqual([401, 'application/problem+json']);
    expect(events.headers['www-authenticate']).toBe('Bearer realm="tasks"');
    const body = Buffer.alloc(512 * 1024, 'x\n');
    const upload = await send(port, '/tasks/import', { method: 'POST', headers: json, body });
    expect(upload.status).toBe(401);
    for (const method of ['PUT', 'DELETE', 'PATCH']) {
      expect((await send(port, '/tasks/1', { method, headers: json })).status).toBe(401);
    }
    const Authorization = 'Bearer t0ken';
    expect((await send(port, '/tasks', { headers: { ...json, Authorization } })).status).toBe(200);
    expect(
      (await send(port, '/tasks/1', { method: 'DELETE', headers: { ...json, Authorization } })).status,
    ).toBe(404);
  });
});
