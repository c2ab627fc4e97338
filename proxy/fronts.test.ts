import { once } from 'node:events';
import http, { type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import https from 'node:https';
import { text } from 'node:stream/consumers';
import { startTemporaryStack, type TemporaryStack } from '@longhand/deploy/testing/temporary-stack.ts';
import { cutOff, listening } from '@longhand/shared/testing/listening.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Front, type FrontName, frontNames, hasFront, startFront } from './testing/fronts.ts';
import { send } from './testing/send.ts';

/** Milliseconds for which a page stays open: beyond the idle times of the fronts in the long form. */
const openFor = rounds({ short: 1_000, long: 65_000 });

let stack: TemporaryStack;
beforeAll(async () => {
  stack = await startTemporaryStack({
    env: {
      LONGHAND_FRONT: '127.0.0.1/32',
      LONGHAND_EXPANDER_NAME: frontNames.expander,
      LONGHAND_TASKS_NAME: frontNames.tasks,
      LONGHAND_API_RATE: '3r/m',
    },
  });
});
afterAll(() => stack?.stop());

interface Ask {
  /** The address of the client, from which no other test asks. */
  client: string;
  method?: string;
  headers?: OutgoingHttpHeaders;
  body?: string;
}

const { expander, tasks } = frontNames;

/** Asks over TLS; the client connects from an address of its own. */
async function openOverTls(
  front: Front,
  servername: string,
  path: string,
  ask: Ask,
): Promise<IncomingMessage> {
  const { client, method = 'GET', headers = {}, body = '' } = ask;
  const where = { host: '127.0.0.1', port: front.https, localAddress: client, servername, ca: front.ca };
  const what = { path, method, headers: { Host: servername, 'Content-Length': body.length, ...headers } };
  const request = https.request({ ...where, ...what, agent: false }).end(body);
  const [response] = await once(request, 'response');
  return response;
}

async function askOverTls(front: Front, servername: string, path: string, given: Ask) {
  const response = await openOverTls(front, servername, path, given);
  const { statusCode: status, headers } = response;
  return { status, headers, body: await text(response) };
}

const fronts: FrontName[] = ['caddy', 'nginx', 'traefik'];
test.skipIf(fronts.every(hasFront))(`the programs ${fronts.join(', ')} are on this machine`, () => {});

describe.each(fronts.filter(hasFront))('Behind %s everything is as without it:', (name) => {
  const network = `127.0.${fronts.indexOf(name) + 1}`;
  let front: Front;
  beforeAll(async () => {
    front = await startFront(name, Number(new URL(stack.urls.proxy).port));
  });
  afterAll(() => front?.stop());

  const open = (servername: string, path: string, given: Ask) => openOverTls(front, servername, path, given);
  const ask = (servername: string, path: string, given: Ask) => askOverTls(front, servername, path, given);

  test('a session has a cookie for this host alone, a form adds a task, and the answer leads back', async () => {
    const client = `${network}.1`;
    const page = await ask(tasks, '/', { client });
    const [cookie = ''] = page.headers['set-cookie'] ?? [];
    expect(cookie).toMatch(/^__Host-session=[\w-]{22}; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
    expect(page.headers['strict-transport-security']).toBe('max-age=31536000');
    const token = /name="_csrf" value="([^"]+)"/.exec(page.body)?.[1] ?? '';
    const added = await ask(tasks, '/task', {
      client,
      method: 'POST',
      headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        Origin: `https://${tasks}`,
        Cookie: cookie.split(';')[0],
      },
      body: new URLSearchParams({ title: `behind ${name}`, _csrf: token }).toString(),
    });
    expect([added.status, added.headers.location]).toEqual([302, '/']);
    expect((await ask(tasks, '/', { client })).body).toContain(`behind ${name}`);
  });

  test('plain HTTP is redirected to HTTPS', async () => {
    const { status, headers } = await send(front.http, '/tasks?x', { host: tasks });
    expect(status).toSatisfy((code: number) => [301, 308].includes(code));
    expect(headers.location).toMatch(/^https:\/\/tasks\.example\.org(:\d+)?\/tasks\?x$/);
  });

  test(
    'a page stays open, and hears of each change at once',
    async () => {
      const client = `${network}.2`;
      const events = await open(tasks, '/tasks/events', { client });
      expect(events.headers['content-type']).toBe('text/event-stream');
      let heard = '';
      events.setEncoding('utf8').on('data', (chunk: string) => {
        heard += chunk;
      });
      const versions = () => [...heard.matchAll(/^data: (\d+)$/gm)].map(([, version]) => version);
      await expect.poll(() => versions().length).toBeGreaterThan(0);
      // Real time is the rule here.
      await new Promise((resolve) => setTimeout(resolve, openFor));
      const before = new Set(versions());
      const body = JSON.stringify({ title: 'one more' });
      const headers = { 'Content-Type': 'application/json' };
      await ask(tasks, '/tasks', { client, method: 'POST', headers, body });
      await expect.poll(() => new Set(versions()).size, { timeout: 2_000 }).toBe(before.size + 1);
      events.destroy();
    },
    openFor + 30_000,
  );

  test('a file of 10 MB is imported', async () => {
    const title = 'x'.repeat(490);
    const lines = Array.from({ length: 21_000 }, () => title).join('\n');
    expect(lines.length).toBeGreaterThan(10_000_000);
    const headers = {
      'Content-Type': 'text/plain',
      Origin: `https://${tasks}`,
      Accept: 'application/json',
    };
    const imported = await ask(tasks, '/tasks/import', {
      client: `${network}.3`,
      method: 'POST',
      headers,
      body: lines,
    });
    expect([imported.status, JSON.parse(imported.body)]).toMatchObject([200, { imported: 21_000 }]);
  });

  test('an address of 8 KiB arrives, percent-encoded threefold', async () => {
    const path = `/api?u=http://127.0.0.1:1/${'%C3%A9'.repeat(4_080)}`;
    expect((await ask(expander, path, { client: `${network}.4` })).status).toBe(403);
  });

  test('each client has a rate of its own, whatever it says of itself', async () => {
    const statuses = async (client: string) => {
      const found: (number | undefined)[] = [];
      for (let i = 0; i < 5; i++) {
        const headers = { 'X-Forwarded-For': `203.0.113.${i}`, 'X-Forwarded-User': 'somebody' };
        found.push((await ask(expander, '/api', { client, headers })).status);
      }
      return found;
    };
    expect(await statuses(`${network}.5`)).toEqual([200, 200, 200, 200, 429]);
    expect(await statuses(`${network}.6`)).toEqual([200, 200, 200, 200, 429]);
    await expect.poll(() => stack.accessLog()).toContain(`"client":"${network}.6"`);
    expect(await stack.accessLog()).not.toMatch(/203\.0\.113\.|somebody/);
  });

  test('what a client says of the scheme does not count', async () => {
    const headers = { 'X-Forwarded-Proto': 'http' };
    const page = await ask(tasks, '/', { client: `${network}.7`, headers });
    expect(page.headers['set-cookie']?.[0]).toMatch(/^__Host-/);
  });
});

test.skipIf(!hasFront('caddy'))(
  'behind Caddyfile.sign-on only who has signed in gets in, under that name',
  async () => {
    // What oauth2-proxy answers Caddy.
    const signOn = http.createServer(({ headers }, response) => {
      if (headers.cookie === 'ada') response.setHeader('X-Auth-Request-Email', 'ada@example.org');
      response.writeHead(headers.cookie === 'ada' ? 202 : 401).end();
    });
    const front = await startFront('caddy', Number(new URL(stack.urls.proxy).port), await listening(signOn));
    onTestFinished(async () => {
      await front.stop();
      cutOff(signOn);
    });
    const client = '127.0.9.1';
    const stranger = await askOverTls(front, tasks, '/?filter=open', { client });
    expect([stranger.status, stranger.headers.location]).toEqual([302, '/oauth2/start?rd=/?filter=open']);
    const headers = { Cookie: 'ada', 'X-Forwarded-User': 'somebody' };
    expect((await askOverTls(front, tasks, '/', { client, headers })).status).toBe(200);
    await askOverTls(front, expander, '/', { client, headers });
    const users = async () =>
      [...(await stack.accessLog()).matchAll(/"client":"127\.0\.9\.1".*"user":"([^"]*)"/g)].map(
        ([, user]) => user,
      );
    await expect.poll(users).toEqual(['ada@example.org', '']);
  },
);
