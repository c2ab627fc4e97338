import http from 'node:http';
import type { Socket } from 'node:net';
import { startTemporaryProxy } from '@longhand/deploy/testing/temporary-proxy.ts';
import { engineAnswers } from '@longhand/shared/testing/engine.ts';
import { freePort } from '@longhand/shared/testing/free-port.ts';
import { cutOff, listening } from '@longhand/shared/testing/listening.ts';
import { send } from '@longhand/shared/testing/send.ts';
import { afterAll, describe, expect, test } from 'vitest';

/** The nginx of the stack's image; a machine without an engine has only its own. */
const image = (await engineAnswers()) ? 'nginx:1.30' : undefined;

/** nginx in front of two replicas, as in containers. One accepts requests and never answers; a third refuses connections. */
describe(`A replica that never answers ${image ?? "this machine's nginx"}`, { timeout: 60_000 }, async () => {
  let asked = 0;
  /** Whether the silent replica closes the connection instead, as one that crashes does. */
  let crashes = false;
  const answered: string[] = [];
  const servers = [
    http.createServer((request) => {
      asked += 1;
      if (crashes) request.socket.destroy();
    }),
    http.createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
      answered.push(`${request.method} ${request.url}`);
      response.end('answered');
    }),
  ];
  /** Connections to the one that answers. */
  const open = new Set<Socket>();
  servers[1]?.on('connection', (socket) => open.add(socket.once('close', () => open.delete(socket))));
  const ports = await Promise.all(servers.map((server) => listening(server)));
  const refuses = await freePort();
  const replicas = (parameters: string) =>
    [...ports, refuses].map((port) => `127.0.0.1:${port} ${parameters}`).join('; server ');
  const proxy = await startTemporaryProxy(
    {
      LONGHAND_EXPANDER_SERVER: replicas('max_fails=1 fail_timeout=5s'),
      LONGHAND_TASKS_SERVER: replicas('max_fails=0'),
    },
    (text) => text.replace(/(?<=proxy_\w+_timeout [29]|keepalive_timeout 5)s/g, '00ms'),
    image,
  );
  afterAll(async () => {
    await proxy.stop();
    for (const server of servers) cutOff(server);
  });

  /** Asks until the silent replica was asked, and gives the answer. */
  async function answerOf(ask: (i: number) => ReturnType<typeof send>) {
    const before = asked;
    for (let i = 0; ; i++) {
      const answer = await ask(i);
      if (asked > before) return answer;
    }
  }

  test('delays a link: another one is asked', async () => {
    const { status, body } = await answerOf((i) => send(proxy.ports.expander, `/api?u=${i}`));
    expect([status, body]).toEqual([200, 'answered']);
  });

  test('delays a page', async () => {
    expect(await answerOf(() => send(proxy.ports.tasks, '/'))).toMatchObject({ status: 200 });
  });

  const writes: [string, string, string?][] = [
    ['POST', '/task', 'title=once'],
    ['PUT', '/tasks/1', '{"title":"once"}'],
    ['DELETE', '/tasks/1%0A%3F?a=%2F..'],
    ['DELETE', '/tasks/finished'],
  ];
  test.each(writes)(
    'fails %s %s: another one might carry it out a second time',
    async (method, path, body) => {
      const json = { 'Content-Type': 'application/json' };
      const write = () => send(proxy.ports.tasks, path, { method, headers: json, body: body ?? '' });
      for (const [status, code] of [
        [504, 'timeout'],
        [502, 'unreachable'],
      ] as const) {
        crashes = status === 502;
        // All others have gone to the one that answers, as they were sent, also those that were refused at first.
        answered.length = 0;
        let sent = 0;
        const answer = await answerOf(async () => {
          sent += 1;
          const answer = await write();
          expect([200, status]).toContain(answer.status);
          return answer;
        });
        expect([answer.status, JSON.parse(answer.body).code]).toEqual([status, code]);
        expect(answered).toEqual(Array(sent - 1).fill(`${method} ${path}`));
      }
      crashes = false;
    },
  );

  // Each of them would cost a request if that replica lost its network.
  test('has no spare connections for long', async () => {
    await send(proxy.ports.tasks, '/');
    await expect.poll(() => open.size).toBe(0);
  });
});
