import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { startTemporaryProxy, type TemporaryProxy } from '@longhand/deploy/testing/temporary-proxy.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { send } from './testing/send.ts';

/** nginx in front of two replicas, as in containers. One accepts requests and never answers. */
describe('A replica that never answers', () => {
  let asked = 0;
  const servers = [
    http.createServer(() => {
      asked += 1;
    }),
    http.createServer({ keepAliveTimeout: 75_000 }, (_, response) => response.end('answered')),
  ];
  /** Connections to the one that answers. */
  const open = new Set<Socket>();
  servers[1]?.on('connection', (socket) => open.add(socket.once('close', () => open.delete(socket))));
  let proxy: TemporaryProxy;
  beforeAll(async () => {
    for (const server of servers) await once(server.listen(0, '127.0.0.1'), 'listening');
    const replicas = (parameters: string) =>
      servers
        .map((server) => `127.0.0.1:${(server.address() as AddressInfo).port} ${parameters}`)
        .join('; server ');
    proxy = await startTemporaryProxy(
      {
        LONGHAND_EXPANDER_SERVER: replicas('max_fails=1 fail_timeout=5s'),
        LONGHAND_TASKS_SERVER: replicas('max_fails=0'),
      },
      (text) => text.replace(/(?<=proxy_\w+_timeout [29]|keepalive_timeout 5)s/g, '00ms'),
    );
  });
  afterAll(async () => {
    await proxy?.stop();
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
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

  test('delays a page; a write fails, because another one might carry it out a second time', async () => {
    expect(await answerOf(() => send(proxy.ports.tasks, '/'))).toMatchObject({ status: 200 });
    const write = { method: 'POST', body: 'title=once' };
    expect(await answerOf(() => send(proxy.ports.tasks, '/task', write))).toMatchObject({ status: 504 });
  });

  // Each of them would cost a request if that replica lost its network.
  test('has no spare connections for long', async () => {
    await send(proxy.ports.tasks, '/');
    await expect.poll(() => open.size).toBe(0);
  });
});
