import { readdir, readlink, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { startTemporaryProxy } from '@longhand/deploy/testing/temporary-proxy.ts';
import { serve } from '@longhand/shared/serve.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import { send } from '@longhand/shared/testing/send.ts';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Hold, startCrowd } from './testing/crowd.ts';
import { childrenOf } from './testing/memory.ts';
import { scriptedApplication, startProxied } from './testing/proxied.ts';

const wait = { timeout: 60_000 };
const count = rounds({ short: 120, long: 2_000 });
/** The size of an import, of which 60 would fill the container's /run. */
const importSize = 1024 ** 2;

describe('Unfinished uploads of one client', async () => {
  const proxy = await startProxied(scriptedApplication().server);
  afterAll(proxy.stop);

  /** Returns the bytes of request bodies that nginx keeps in files. */
  const bytesOnDisk = async () => {
    const sizes = (await childrenOf(proxy.pid)).map(async (worker) => {
      const folder = `/proc/${worker}/fd`;
      const files = (await readdir(folder)).map((name) => `${folder}/${name}`);
      const bodies = files.map(async (file) =>
        (await readlink(file)).includes('/client-body/') ? (await stat(file)).size : 0,
      );
      return (await Promise.all(bodies.map((size) => size.catch(() => 0)))).reduce(
        (sum, size) => sum + size,
        0,
      );
    });
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  };

  const hold = (options: Pick<Hold, 'kind' | 'path' | 'bytes'> & Partial<Hold>) => {
    const crowd = startCrowd({ count, port: proxy.ports.tasks, from: '127.0.0.2', ...options });
    onTestFinished(() => crowd.stop());
    return crowd;
  };

  test.each<[maxBytes: number, options: Pick<Hold, 'kind' | 'path' | 'bytes'>]>([
    [4 * importSize, { kind: 'upload', path: '/tasks/import', bytes: importSize }],
    [0, { kind: 'upload', path: '/task', bytes: 65_536 }],
    [0, { kind: 'upload', path: '/tasks/restore', bytes: 65_536 }],
    [4 * importSize, { kind: 'upload', path: '/task', bytes: importSize }],
    [100 * 65_536, { kind: 'chunks', path: '/tasks', bytes: 60_000 }],
    [4 * importSize, { kind: 'chunks', path: '/task', bytes: 60_000 }],
    [4 * importSize, { kind: 'chunks', path: '/tasks/import', bytes: 100_000 }],
  ])('take at most %i bytes of disk, and other clients can import: %o', async (maxBytes, options) => {
    const crowd = hold(options);
    await expect.poll(() => crowd.held().opened, wait).toBeGreaterThanOrEqual(count);
    const body = 'x'.repeat(importSize);
    for (let i = 0; i < 20; i += 1) {
      const other = { method: 'POST', body, localAddress: '127.0.0.3' };
      expect((await send(proxy.ports.tasks, '/tasks/import', other)).status).toBe(200);
      expect(await bytesOnDisk()).toBeLessThanOrEqual(maxBytes + importSize);
    }
    expect(await bytesOnDisk()).toBeLessThanOrEqual(maxBytes);
  });

  test.each<[maxBytes: number, perClient: number, options: Pick<Hold, 'kind' | 'path' | 'bytes'>]>([
    [36 * importSize, 4, { kind: 'upload', path: '/tasks/import', bytes: importSize }],
    [300 * 65_536, 30, { kind: 'chunks', path: '/tasks', bytes: 60_000 }],
  ])('of 16 clients take at most %i bytes of disk', async (maxBytes, perClient, options) => {
    const clients = Array.from({ length: 16 }, (_, i) => `127.0.1.${i + 1}`);
    const crowds = clients.map((from) => hold({ count: perClient, from, ...options }));
    const refused = () => crowds.some((crowd) => Object.keys(crowd.held().statuses).length > 0);
    await expect.poll(refused, wait).toBe(true);
    await expect.poll(bytesOnDisk, wait).toBeGreaterThan(maxBytes * 0.7);
    expect(await bytesOnDisk()).toBeLessThanOrEqual(maxBytes);
    const statuses = crowds.flatMap((crowd) => Object.keys(crowd.held().statuses));
    expect([...new Set(statuses)]).toEqual([options.kind === 'chunks' ? '429' : '503']);
  });

  test('a fifth import at a time receives 503 with Retry-After', async () => {
    const crowd = hold({ kind: 'upload', path: '/tasks/import', bytes: importSize });
    await expect.poll(() => crowd.held().statuses['503'], wait).toBeGreaterThan(0);
    const ask = (headers = {}) =>
      send(proxy.ports.tasks, '/tasks/import', {
        method: 'POST',
        localAddress: '127.0.0.2',
        body: 'x'.repeat(70_000),
        headers,
      });
    const page = await ask();
    expect([page.status, page.headers['retry-after']]).toEqual([503, '5']);
    expect(page.body).toContain('<h1>Too many imports at a time.</h1>');
    const { status, headers, body } = await ask({ Accept: 'application/json' });
    expect([status, headers['retry-after'], headers['content-type']]).toEqual([
      503,
      '5',
      'application/problem+json',
    ]);
    expect(JSON.parse(body)).toMatchObject({ status: 503, code: 'too_many_imports' });
  });
});

test('clients receive the response to a list that the expander refuses unread', async () => {
  const sockets = new Set<Socket>();
  const stop = new AbortController();
  const application = {
    async fetch(_: Request, { incoming }: { incoming: IncomingMessage }) {
      sockets.add(incoming.socket);
      return new Response('refused', { status: 405 });
    },
  };
  const { port } = await serve(application, { host: '127.0.0.1', port: 0, signal: stop.signal });
  const proxy = await startTemporaryProxy({ LONGHAND_EXPANDER_SERVER: `127.0.0.1:${port}` });
  onTestFinished(async () => {
    stop.abort();
    await proxy.stop();
  });
  const body = 'a'.repeat(8_000_000);
  const lists = Array.from({ length: 20 }, () =>
    send(proxy.ports.expander, '/api/expand', { method: 'PATCH', body }),
  );
  for (const { status, body: text } of await Promise.all(lists)) {
    expect([status, text]).toEqual([405, 'refused']);
  }
  expect(sockets.size).toBe(20);
  for (const { bytesRead } of sockets) expect(bytesRead).toBeLessThan(body.length / 10);
});
