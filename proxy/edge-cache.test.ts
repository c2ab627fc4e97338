import { randomUUID } from 'node:crypto';
import { startTemporaryProxy, type TemporaryProxy } from '@longhand/deploy/testing/temporary-proxy.ts';
import { engineAnswers } from '@longhand/shared/testing/engine.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type ObedientApplication,
  type Order,
  ordering,
  startObedientApplication,
} from './testing/obedient-application.ts';
import { type RequestOptions, send } from './testing/send.ts';

/** As the expander sends it: kept for 30 s of ten minutes. */
const fresh = { 'Cache-Control': 'public, max-age=600', 'X-Accel-Expires': '30' };

const engine = await engineAnswers();
if (!engine)
  console.warn(
    'Skipped: the edge cache of nginx in a container, because no Docker engine answers on this machine.',
  );

describe('The edge cache', () => edgeCache());
describe.skipIf(!engine)('The edge cache in a container', () => edgeCache('nginx:1.30'));

/** @param image that of the container whose nginx it is, instead of this machine's, which may be as old as 1.22. */
function edgeCache(image?: string): void {
  let application: ObedientApplication;
  let proxy: TemporaryProxy;
  const start = async () => {
    application = await startObedientApplication(application?.port);
  };
  beforeAll(async () => {
    await start();
    const server = `127.0.0.1:${application.port} max_fails=0`;
    const servers = { LONGHAND_EXPANDER_SERVER: server, LONGHAND_TASKS_SERVER: server };
    const impatient = (text: string) => text.replace('read_timeout 9s', 'read_timeout 1s');
    proxy = await startTemporaryProxy(servers, impatient, image);
  }, 60_000);
  afterAll(async () => {
    await proxy?.stop();
    await application?.stop();
  });

  /** A short URL that nobody has asked for. */
  let u: string;
  beforeEach(() => {
    u = `u=https://sho.rt/${randomUUID()}`;
  });
  const target = (path: string, order: Order = { headers: fresh }) => `${path}?${u}&${ordering(order)}`;
  const ask = (path: string, options?: RequestOptions) => send(proxy.ports.expander, path, options);
  /** How often the application was asked for this test's URL. */
  const asked = () => application.arrived.filter(({ url }) => url.includes(u)).length;
  const statusOf = async (id: unknown) => {
    const line = () => proxy.log.find((entry) => entry.includes(`${id}`));
    await expect.poll(line).toBeDefined();
    return JSON.parse(line() ?? '').cache;
  };

  test.each<[string, string, Order]>([
    ['/api', 'text', { headers: fresh }],
    ['/api', 'a call', { headers: { ...fresh, 'Content-Type': 'text/html' } }],
    ['/api', 'an error that may be kept', { status: 502, headers: fresh }],
    ['/api/chain', 'a chain', { headers: { ...fresh, 'Content-Type': 'application/json' } }],
  ])('answers %s itself the second time: %s', async (path, _, order) => {
    const first = await ask(target(path, order));
    const second = await ask(target(path, order));
    expect(asked()).toBe(1);
    expect(second.status).toBe(first.status);
    expect(second.body).toBe(first.body);
    const { 'x-request-id': firstId, ...headers } = first.headers;
    const { 'x-request-id': secondId, ...others } = second.headers;
    expect(others).toEqual(headers);
    expect(await statusOf(firstId)).toBe('MISS');
    expect(await statusOf(secondId)).toBe('HIT');
  });

  test.each<[string, string, Order, RequestOptions]>([
    ['a page', '/', { headers: fresh }, {}],
    ['another path below /api', '/api/other', { headers: fresh }, {}],
    ['what was posted', '/api', { headers: fresh }, { method: 'POST', body: 'x' }],
    ['no-store', '/api', { headers: { 'Cache-Control': 'no-store' } }, {}],
    ['what sets a cookie', '/api', { headers: { ...fresh, 'Set-Cookie': 'a=b' } }, {}],
    ['what has no lifetime', '/api', {}, {}],
    ['for a request of an expander', '/api', { headers: fresh }, { headers: { 'CDN-Loop': 'longhand' } }],
    [
      'for an expander behind others',
      '/api',
      { headers: fresh },
      { headers: { 'CDN-Loop': ['0', 'longhand'] } },
    ],
    ['what is long', '/api', { headers: fresh, length: 3_000 }, {}],
    ['what has no length', '/api', { headers: fresh, chunked: true }, {}],
  ])('does not keep %s', async (_, path, order, options) => {
    await ask(target(path, order), options);
    await ask(target(path, order), options);
    expect(asked()).toBe(2);
  });

  test('keeps nothing of tasks but its files', async () => {
    for (const path of ['/', '/tasks', '/tasks/1', '/api', '/openapi.json', '/public/style.css']) {
      await send(proxy.ports.tasks, target(path, { headers: { 'Cache-Control': 'public, max-age=600' } }));
      await send(proxy.ports.tasks, target(path, { headers: { 'Cache-Control': 'public, max-age=600' } }));
    }
    expect(asked()).toBe(12);
  });

  test('a request of an expander reaches the next one whole, even where an answer is kept', async () => {
    await ask(target('/api'));
    await ask(target('/api'), { headers: { 'CDN-Loop': 'other, longhand; v=1' } });
    expect(application.arrived.at(-1)).toMatchObject({
      url: target('/api'),
      headers: { 'cdn-loop': 'other, longhand; v=1' },
    });
    expect(asked()).toBe(2);
  });

  test('answers HEAD from what GET has left, and GET from what HEAD has left', async () => {
    const get = await ask(target('/api'));
    const head = await ask(target('/api'), { method: 'HEAD' });
    expect([head.status, head.body, asked()]).toEqual([200, '', 1]);
    const { 'x-request-id': _, ...headers } = get.headers;
    expect(head.headers).toMatchObject(headers);

    const other = `${target('/api')}&other`;
    await ask(other, { method: 'HEAD' });
    expect((await ask(other)).body).toContain('answer');
    expect(asked()).toBe(2);
  });

  test('a cached answer says when the expander gave it', async () => {
    const { headers } = await ask(target('/api'));
    const later = async () => new Date().toUTCString() !== headers.date;
    await expect.poll(later).toBe(true);
    expect((await ask(target('/api'))).headers.date).toBe(headers.date);
  });

  test('a cached answer counts with the rate limit, and the log says so', async () => {
    const limited = await startTemporaryProxy(
      {
        LONGHAND_API_RATE: '1r/s',
        LONGHAND_EXPANDER_SERVER: `127.0.0.1:${application.port} max_fails=0`,
      },
      undefined,
      image,
    );
    const statuses = [];
    for (let i = 0; i < 4; i += 1) {
      statuses.push((await send(limited.ports.expander, target('/api'))).status);
    }
    await limited.stop();
    expect(statuses).toEqual([200, 200, 429, 429]);
    expect(asked()).toBe(1);
    const cached = limited.log.filter((line) => line.includes('"cache":"HIT"'));
    expect(cached.map((line) => JSON.parse(line).limit)).toEqual(['PASSED']);
  });

  describe('the lifetime of an answer', () => {
    const aSecond = (cacheControl: string): Order => ({
      headers: { 'Cache-Control': cacheControl, 'X-Accel-Expires': '1' },
    });
    /** Asks until the answer is something else than a hit, and says what and how long it took. */
    const afterHits = async (path: string) => {
      for (;;) {
        const started = performance.now();
        const { status, headers } = await ask(path);
        const milliseconds = performance.now() - started;
        const cache = await statusOf(headers['x-request-id']);
        if (cache !== 'HIT') return { status, cache, milliseconds };
      }
    };

    test('is what X-Accel-Expires says, not max-age; nothing old is told after it', async () => {
      const path = target('/api', aSecond('public, max-age=600'));
      await ask(path);
      expect(await afterHits(path)).toMatchObject({ status: 200, cache: 'EXPIRED' });
      expect(asked()).toBe(2);
    });

    test('ends in every worker at once, though each has the old answer open', async () => {
      const path = `/api?${u}`;
      const crowd = () => Promise.all(Array.from({ length: 16 }, async () => (await ask(path)).body));
      application.standing = { ...aSecond('public, max-age=600'), length: 100 };
      await crowd();
      expect(new Set(await crowd())).toEqual(new Set(['x'.repeat(100)]));
      application.standing = { ...aSecond('public, max-age=600'), length: 200 };
      await expect.poll(async () => (await ask(path)).body).toHaveLength(200);
      expect(new Set(await crowd())).toEqual(new Set(['x'.repeat(200)]));
    });

    test('goes on for stale-while-revalidate: the old answer at once, then the new one', async () => {
      const order = aSecond('public, max-age=600, stale-while-revalidate=30');
      const path = target('/api', { ...order, delay: 900 });
      await ask(path);
      const { cache, milliseconds } = await afterHits(path);
      expect(cache).toBe('STALE');
      expect(milliseconds).toBeLessThan(600);
      await expect.poll(asked).toBe(2);
    });

    test('goes on for stale-if-error while no expander answers, and not much longer', async () => {
      const kept = target('/api', aSecond('public, max-age=600, stale-if-error=2'));
      const dropped = `${target('/api', aSecond('public, max-age=600'))}&dropped`;
      await ask(kept);
      await ask(dropped);
      await application.stop();
      try {
        expect(await afterHits(dropped)).toMatchObject({ status: 502 });
        expect(await afterHits(kept)).toMatchObject({ status: 200, cache: 'STALE' });
        await expect.poll(async () => (await ask(kept)).status).toBe(502);
      } finally {
        await start();
      }
    });

    test('goes on for stale-if-error while the expander hangs', async () => {
      const path = target('/api', aSecond('public, max-age=600, stale-if-error=30'));
      await ask(path);
      application.hangs = true;
      try {
        expect(await afterHits(path)).toMatchObject({ status: 200, cache: 'STALE' });
      } finally {
        application.hangs = false;
      }
    });
  });
}
