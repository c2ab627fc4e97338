import { readdir, readlink, stat } from 'node:fs/promises';
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

  const hold = (options: Pick<Hold, 'kind' | 'path' | 'bytes'>) => {
    const crowd = startCrowd({ count, port: proxy.ports.tasks, from: '127.0.0.2', ...options });
    onTestFinished(() => crowd.stop());
    return crowd;
  };

  test.each<[maxBytes: number, options: Pick<Hold, 'kind' | 'path' | 'bytes'>]>([
    [4 * importSize, { kind: 'upload', path: '/tasks/import', bytes: importSize }],
    [0, { kind: 'upload', path: '/task', bytes: 65_536 }],
    [0, { kind: 'upload', path: '/tasks/restore', bytes: 65_536 }],
    [100 * 65_536, { kind: 'chunks', path: '/task', bytes: 60_000 }],
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

  test('a fifth import at a time receives 503 with Retry-After', async () => {
    const crowd = hold({ kind: 'upload', path: '/tasks/import', bytes: importSize });
    await expect.poll(() => crowd.held().statuses['503'], wait).toBeGreaterThan(0);
    const ask = (headers = {}) =>
      send(proxy.ports.tasks, '/tasks/import', {
        method: 'POST',
        localAddress: '127.0.0.2',
        body: 'x',
        headers,
      });
    const page = await ask();
    expect([page.status, page.headers['retry-after']]).toEqual([503, '5']);
    expect(page.body).toContain('<h1>Too many imports at a time from your address.</h1>');
    const { status, headers, body } = await ask({ Accept: 'application/json' });
    expect([status, headers['retry-after'], headers['content-type']]).toEqual([
      503,
      '5',
      'application/problem+json',
    ]);
    expect(JSON.parse(body)).toMatchObject({ status: 503, code: 'too_many_imports' });
  });
});
