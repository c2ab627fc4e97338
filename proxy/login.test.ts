import { send } from '@longhand/shared/testing/send.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { scriptedApplication, startProxied } from './testing/proxied.ts';

describe('The login limit', async () => {
  const application = scriptedApplication();
  const proxy = await startProxied(application.server, { LONGHAND_FRONT: '127.0.0.1/32' });
  afterAll(proxy.stop);

  const attempt = (client: string, headers = {}, path = '/login', method = 'POST') =>
    send(proxy.ports.tasks, path, { method, headers: { 'X-Forwarded-For': client, ...headers }, body: 'x' });

  test("refuses a client's sixth attempt with 429 and Retry-After", async () => {
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

    // Each client has its own limit. The IPv6 limit applies to a /64 network.
    expect((await attempt('192.0.2.1', {}, '/login', 'GET')).status).toBe(200);
    expect((await attempt('192.0.2.1', {}, '/task')).status).toBe(200);
    expect((await attempt('192.0.2.2')).status).toBe(200);
    for (let i = 0; i < 5; i++) await attempt(`2001:db8::${i}`);
    expect((await attempt('2001:db8::9')).status).toBe(429);
  });

  test('does not apply to cross-site requests', async () => {
    const accepted = [
      'same-origin',
      '\tsame-origin',
      'same-origin\t',
      'Same-Origin',
      'none',
      '',
      'cross-site, none',
    ];
    for (const [n, site] of [...accepted, 'cross-site', 'same-site'].entries()) {
      const ask = async () => (await attempt(`198.51.100.${n}`, { 'Sec-Fetch-Site': site })).status;
      for (let i = 0; i < 5; i++) await ask();
      expect([site, await ask()]).toEqual([site, accepted.includes(site) ? 429 : 200]);
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
