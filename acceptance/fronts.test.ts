import http from 'node:http';
import { startTemporaryStack } from '@longhand/deploy/testing/temporary-stack.ts';
import { cutOff, listening } from '@longhand/shared/testing/listening.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import { open, type RequestOptions, send } from '@longhand/shared/testing/send.ts';
import { testUnless } from '@longhand/shared/testing/unless.ts';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { type FrontName, frontNames, hasFront, startFront } from './testing/fronts.ts';
import { openSession } from './testing/session.ts';

/** Duration of an event stream (ms). Long runs exceed the fronts' idle timeouts. */
const openFor = rounds({ short: 1_000, long: 65_000 });

const { expander, tasks } = frontNames;
const stack = await startTemporaryStack({
  env: {
    LONGHAND_FRONT: '127.0.0.1/32',
    LONGHAND_EXPANDER_NAME: expander,
    LONGHAND_TASKS_NAME: tasks,
    LONGHAND_API_RATE: '3r/m',
  },
});
afterAll(stack.stop);
const port = Number(new URL(stack.urls.proxy).port);

const fronts: FrontName[] = ['caddy', 'nginx', 'traefik'];
for (const name of fronts) if (!hasFront(name)) testUnless(`needs ${name}`)(`Behind ${name}`, () => {});

describe.each(fronts.filter(hasFront))('Behind %s', async (name) => {
  const network = `127.0.${fronts.indexOf(name) + 1}`;
  const front = await startFront(name, port);
  afterAll(front.stop);

  /** Sends a request from a client's own address. */
  const ask = (client: number, host: string, path: string, more?: RequestOptions) =>
    send(front.https, path, { ...more, host, ca: front.ca, localAddress: `${network}.${client}` });

  test('the form adds a task with a __Host- session cookie', async () => {
    const headers = { Origin: `https://${tasks}`, 'X-Forwarded-Proto': 'http' };
    const session = openSession(front.https, tasks, { ca: front.ca, localAddress: `${network}.1`, headers });
    const page = await session.get('/');
    expect(page.headers['set-cookie']).toEqual([
      expect.stringMatching(/^__Host-session-[\da-f]{8}=[\w-]{22}; Path=\/; HttpOnly; Secure; SameSite=Lax$/),
    ]);
    expect(page.headers['strict-transport-security']).toBe('max-age=31536000');
    const added = await session.add(`behind ${name}`);
    expect([added.status, added.headers.location]).toEqual([302, '/']);
    expect((await session.get('/')).body).toContain(`behind ${name}`);
  });

  test('HTTP redirects to HTTPS', async () => {
    const { status, headers } = await send(front.http, '/tasks?x', { host: tasks });
    expect(status).toSatisfy((code: number) => [301, 308].includes(code));
    expect(headers.location).toMatch(/^https:\/\/tasks\.example\.org(:\d+)?\/tasks\?x$/);
  });

  test(
    'an event stream stays open and delivers each change immediately',
    async () => {
      const from = { host: tasks, ca: front.ca, localAddress: `${network}.2` };
      const events = await open(front.https, '/tasks/events', from);
      expect(events.headers['content-type']).toBe('text/event-stream');
      const versions = new Set<string>();
      events.setEncoding('utf8').on('data', (chunk: string) => {
        for (const [, version = ''] of chunk.matchAll(/^data: (\d+)$/gm)) versions.add(version);
      });
      await expect.poll(() => versions.size).toBeGreaterThan(0);
      // A fake clock would not affect the fronts' idle timeouts.
      await new Promise((resolve) => setTimeout(resolve, openFor));
      const before = versions.size;
      const headers = { 'Content-Type': 'application/json' };
      await ask(2, tasks, '/tasks', { method: 'POST', headers, body: '{"title":"one more"}' });
      await expect.poll(() => versions.size).toBe(before + 1);
      events.destroy();
    },
    openFor + 30_000,
  );

  test('accepts a 1 MB import and a 16 KB URL', async () => {
    const body = `${'x'.repeat(490)}\n`.repeat(2_100);
    const headers = { 'Content-Type': 'text/plain', Accept: 'application/json', Origin: `https://${tasks}` };
    const imported = await ask(3, tasks, '/tasks/import', { method: 'POST', headers, body });
    expect([imported.status, JSON.parse(imported.body)]).toMatchObject([200, { imported: 2_100 }]);
    expect((await ask(4, expander, `/api?u=http://127.0.0.1:1/${'%C3%A9'.repeat(2_700)}`)).status).toBe(403);
  });

  test('each client has its own rate limit, regardless of its headers', async () => {
    for (const client of [5, 6])
      for (const [i, status] of [200, 200, 200, 200, 429].entries()) {
        const headers = { 'X-Forwarded-For': `203.0.113.${i}`, 'X-Forwarded-User': 'somebody' };
        expect((await ask(client, expander, '/api', { headers })).status).toBe(status);
      }
    await expect.poll(() => stack.accessLog()).toContain(`"client":"${network}.6"`);
    expect(await stack.accessLog()).not.toMatch(/203\.0\.113\.|somebody/);
  });
});

testUnless(!hasFront('caddy') && 'needs caddy')(
  'Caddyfile.sign-on admits only signed-in users and forwards their names',
  async () => {
    // Imitates oauth2-proxy, which redirects to X-Auth-Request-Redirect after the login.
    const signOn = http.createServer(({ url, headers }, response) => {
      if (url === '/oauth2/start') {
        response.writeHead(302, { Location: `https://id.example.org/${headers['x-auth-request-redirect']}` });
      } else {
        if (headers.cookie === 'ada') response.setHeader('X-Auth-Request-Email', 'ada@example.org');
        response.writeHead(headers.cookie ? 202 : 401);
      }
      response.end();
    });
    const front = await startFront('caddy', port, await listening(signOn));
    onTestFinished(async () => {
      await front.stop();
      cutOff(signOn);
    });
    const ask = (host: string, path: string, headers = {}) =>
      send(front.https, path, { host, ca: front.ca, localAddress: '127.0.9.1', headers });
    const stranger = await ask(tasks, '/?filter=open&q=%26a');
    const login = 'https://id.example.org//?filter=open&q=%26a';
    expect([stranger.status, stranger.headers.location]).toEqual([302, login]);
    const headers = { Cookie: 'ada', 'X-Forwarded-User': 'somebody' };
    expect((await ask(tasks, '/', headers)).status).toBe(200);
    await ask(expander, '/', headers);
    // This user has no email address.
    await ask(tasks, '/', { ...headers, Cookie: 'guest' });
    const logged = /"client":"127\.0\.9\.1".*"user":"([^"]*)"/g;
    const users = async () => [...(await stack.accessLog()).matchAll(logged)].map(([, user]) => user);
    await expect.poll(users).toEqual(['ada@example.org', '', '']);
  },
);
