import { randomUUID } from 'node:crypto';
import http from 'node:http';
import type { Socket } from 'node:net';
import { createFolders } from '@longhand/deploy/native/folders.ts';
import { service, upstreamServers } from '@longhand/deploy/native/processes.ts';
import { supervise } from '@longhand/deploy/native/supervisor.ts';
import { startTemporaryProxy } from '@longhand/deploy/testing/temporary-proxy.ts';
import { childEnvironment } from '@longhand/shared/testing/child-environment.ts';
import { hasEngine } from '@longhand/shared/testing/engine.ts';
import { cutOff, listening } from '@longhand/shared/testing/listening.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import { send } from '@longhand/shared/testing/send.ts';
import { testFolder } from '@longhand/shared/testing/text-file.ts';
import { startShortener } from '@longhand/shortener';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';

/** The stack's nginx image, or the installed nginx if there is no Docker engine. */
const image = (await hasEngine()) ? 'nginx:1.30' : undefined;

/** nginx in front of three replicas. The first replica never responds, and the last refuses connections. */
describe(`With a hung replica, ${image ?? 'the installed nginx'}`, async () => {
  let hung = 0;
  /** Whether the first replica closes connections, like a crashed process, instead of hanging. */
  let crashes = false;
  const served: string[] = [];
  const servers = [
    http.createServer((request) => {
      hung += 1;
      if (crashes) request.socket.destroy();
    }),
    http.createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
      served.push(`${request.method} ${request.url}`);
      response.end('served');
    }),
  ];
  /** Connections to the healthy replica. */
  const open = new Set<Socket>();
  servers[1]?.on('connection', (socket) => open.add(socket.once('close', () => open.delete(socket))));
  const ports = await Promise.all(servers.map((server) => listening(server)));
  /** A port that refuses connections. */
  const refuses = 1;
  const replicas = (parameters: string) =>
    [...ports, refuses].map((port) => `127.0.0.1:${port} ${parameters}`).join('; server ');
  const proxy = await startTemporaryProxy(
    {
      LONGHAND_EXPANDER_SERVER: replicas('max_fails=1 fail_timeout=5s'),
      LONGHAND_TASKS_SERVER: replicas('max_fails=0'),
    },
    (text) => text.replace(/(?<=proxy_\w+_timeout )9s/g, '3s'),
    image,
  );
  afterAll(async () => {
    await proxy.stop();
    for (const server of servers) cutOff(server);
  });

  /** Sends requests until one reaches the hung replica, and returns its response. */
  async function throughHung(request: (i: number) => ReturnType<typeof send>) {
    const before = hung;
    for (let i = 0; ; i++) {
      const response = await request(i);
      if (hung > before) return response;
    }
  }

  test('retries GET requests', async () => {
    const expansion = await throughHung((i) => send(proxy.ports.expander, `/api?u=${i}`));
    expect(expansion).toMatchObject({ status: 200, body: 'served' });
    expect(await throughHung(() => send(proxy.ports.tasks, '/'))).toMatchObject({ status: 200 });
  });

  const writes: [string, string, string?][] = [
    ['POST', '/task', 'title=once'],
    ['PUT', '/tasks/1', '{"title":"once"}'],
    ['DELETE', '/tasks/1%0A%3F?a=%2F..'],
    ['DELETE', '/tasks/finished'],
  ];
  test.each(writes)('does not retry %s %s', async (method, path, body) => {
    const json = { 'Content-Type': 'application/json' };
    const write = () => send(proxy.ports.tasks, path, { method, headers: json, body: body ?? '' });
    for (const [status, code] of [
      [504, 'timeout'],
      [502, 'unreachable'],
    ] as const) {
      crashes = status === 502;
      // The healthy replica receives every other request exactly once, even after another replica refuses it.
      served.length = 0;
      let sent = 0;
      const failed = await throughHung(async () => {
        sent += 1;
        const response = await write();
        expect([200, status]).toContain(response.status);
        return response;
      });
      expect([failed.status, JSON.parse(failed.body).code]).toEqual([status, code]);
      expect(served).toEqual(Array(sent - 1).fill(`${method} ${path}`));
    }
    crashes = false;
  });

  // A draining service closes idle connections after 2 s. nginx must close them first, or a request could fail.
  test('closes idle connections within 2 s', async () => {
    await send(proxy.ports.tasks, '/');
    await expect.poll(() => open.size, { timeout: 2_000 }).toBe(0);
  });
});

test('two replicas expand an uncached link only once for concurrent requests', async () => {
  const shortener = await startShortener();
  onTestFinished(shortener.close);
  const folder = testFolder();
  createFolders(folder);
  // The expanders have no shared cache, because there is no Redis.
  const env = { ...childEnvironment, EXPANDER_ALLOWED_NETWORKS: '127.0.0.0/8' };
  const replicas = ['expander', 'expander-2'];
  for (const name of replicas) {
    const spec = service('expander', name, 'no-redis', folder);
    onTestFinished((await supervise(spec, { folder, env, onLine() {} })).stop);
  }
  const proxy = await startTemporaryProxy({
    LONGHAND_API_RATE: '1000000r/s',
    LONGHAND_EXPANDER_SERVER: upstreamServers(replicas, folder),
  });
  onTestFinished(proxy.stop);

  const clients = rounds({ short: 250, long: 250 * 4 });
  const link = `/api?u=${encodeURIComponent(`${shortener.url}/chain/2?delay=200&id=${randomUUID()}`)}`;
  const responses = await Promise.all(
    Array.from({ length: clients }, (_, i) =>
      send(proxy.ports.expander, link, { localAddress: `127.0.0.${1 + Math.floor(i / 250)}` }),
    ),
  );
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
  expect(new Set(responses.map(({ body }) => body)).size).toBe(1);
  expect(shortener.requests.get('HEAD /chain/2')).toBe(1);
});
