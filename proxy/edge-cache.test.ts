import { randomUUID } from 'node:crypto';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TemporaryProxy } from '@longhand/deploy/testing/temporary-proxy.ts';
import { hasEngine } from '@longhand/shared/testing/engine.ts';
import { cutOff } from '@longhand/shared/testing/listening.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import { type RequestOptions, send, type TestResponse } from '@longhand/shared/testing/send.ts';
import { testFolder } from '@longhand/shared/testing/text-file.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { logged, type Reply, replyWith, scriptedApplication, startProxied } from './testing/proxied.ts';

/** Expander headers that allow caching for 30 s in nginx and ten minutes in clients. */
const fresh = { 'Cache-Control': 'public, max-age=600', 'X-Accel-Expires': '30' };

/** The stack's nginx image, or the installed nginx (1.22 or later) if there is no Docker engine. */
const image = (await hasEngine()) ? 'nginx:1.30' : undefined;

describe(`The edge cache of ${image ?? 'the installed nginx'}`, () => {
  const application = scriptedApplication();
  let proxy: TemporaryProxy;
  beforeAll(async () => {
    proxy = await startProxied(application.server, {}, undefined, image);
  }, 60_000);
  afterAll(() => proxy?.stop());

  /** A new short URL for each test. */
  let u: string;
  beforeEach(() => {
    u = `u=https://sho.rt/${randomUUID()}`;
  });
  const target = (path: string, reply: Reply = { headers: fresh }) => `${path}?${u}&${replyWith(reply)}`;
  /** Sends a request and waits for its log line, which nginx writes after it has cached the response. */
  const ask = async (path: string, options?: RequestOptions) => {
    const response = await send(proxy.ports.expander, path, options);
    await statusOf(response);
    return response;
  };
  /** Requests for this test's URL that reached the application. */
  const forwarded = () => application.arrived.filter(({ url }) => url.includes(u)).length;
  const statusOf = async (response: TestResponse) => (await logged(() => proxy.log, response)).cache;

  test.each<[string, string, Reply]>([
    ['/api', 'plain text', { headers: fresh }],
    ['/api', 'JSONP', { headers: { ...fresh, 'Content-Type': 'text/html' } }],
    ['/api', 'error', { status: 502, headers: fresh }],
    ['/api/chain', 'JSON', { headers: { ...fresh, 'Content-Type': 'application/json' } }],
  ])('caches %s responses: %s', async (path, _, reply) => {
    const first = await ask(target(path, reply));
    const second = await ask(target(path, reply));
    expect(forwarded()).toBe(1);
    expect([second.status, second.body]).toEqual([first.status, first.body]);
    expect(second.headers).toEqual({ ...first.headers, 'x-request-id': expect.any(String) });
    expect([await statusOf(first), await statusOf(second)]).toEqual(['MISS', 'HIT']);
  });

  test.each<[string, string, Reply, RequestOptions]>([
    ['a page', '/', { headers: fresh }, {}],
    ['another path below /api', '/api/other', { headers: fresh }, {}],
    ['a POST', '/api', { headers: fresh }, { method: 'POST', body: 'x' }],
    ['no-store', '/api', { headers: { 'Cache-Control': 'no-store' } }, {}],
    ['a response that sets a cookie', '/api', { headers: { ...fresh, 'Set-Cookie': 'a=b' } }, {}],
    ['a response without a lifetime', '/api', {}, {}],
    ['an expander', '/api', { headers: fresh }, { headers: { 'CDN-Loop': 'longhand' } }],
    [
      'an expander behind a proxy',
      '/api',
      { headers: fresh },
      { headers: { 'CDN-Loop': ['0', 'longhand'] } },
    ],
    ['a long response', '/api', { headers: fresh, length: 3_000 }, {}],
    ['a response without a length', '/api', { headers: fresh, chunked: true }, {}],
  ])('does not cache %s', async (_, path, reply, options) => {
    await ask(target(path, reply), options);
    await ask(target(path, reply), options);
    expect(forwarded()).toBe(2);
  });

  test.each(['/', '/tasks/1', '/api', '/public/0123456789ab/style.css'])(
    'does not cache responses from tasks: %s',
    async (path) => {
      for (let i = 0; i < 2; i += 1) await send(proxy.ports.tasks, target(path));
      expect(forwarded()).toBe(2);
    },
  );

  test('bypasses the cache for requests from an expander', async () => {
    await ask(target('/api'));
    await ask(target('/api'), { headers: { 'CDN-Loop': 'other, longhand; v=1' } });
    expect(application.arrived.at(-1)).toMatchObject({
      url: target('/api'),
      headers: { 'cdn-loop': 'other, longhand; v=1' },
    });
    expect(forwarded()).toBe(2);
  });

  test('GET and HEAD share cached responses', async () => {
    const get = await ask(target('/api'));
    const head = await ask(target('/api'), { method: 'HEAD' });
    expect([head.status, head.body, forwarded()]).toEqual([200, '', 1]);
    const { 'x-request-id': _, ...headers } = get.headers;
    expect(head.headers).toMatchObject(headers);

    const other = `${target('/api')}&other`;
    await ask(other, { method: 'HEAD' });
    expect((await ask(other)).body).toContain('received');
    expect(forwarded()).toBe(2);
  });

  test('forwards all concurrent requests for an uncached link immediately', async () => {
    const path = target('/api', { headers: fresh, delay: 1_500 });
    await Promise.all([ask(path), ask(path)]);
    expect(forwarded()).toBe(2);
  });

  test("keeps the expander's Date header in cached responses", async () => {
    const { headers } = await ask(target('/api'));
    await expect.poll(async () => new Date().toUTCString() !== headers.date).toBe(true);
    expect((await ask(target('/api'))).headers.date).toBe(headers.date);
  });

  describe('the response lifetime', () => {
    const aSecond = (cacheControl: string): Reply => ({
      headers: { 'Cache-Control': cacheControl, 'X-Accel-Expires': '1' },
    });
    /** Repeats the request until it is not a cache hit, then returns the response. */
    const afterHits = async (path: string) => {
      const last = { status: 0, cache: '', milliseconds: 0 };
      const cache = async () => {
        const started = performance.now();
        const response = await send(proxy.ports.expander, path);
        const milliseconds = performance.now() - started;
        Object.assign(last, { status: response.status, cache: await statusOf(response), milliseconds });
        return last.cache;
      };
      // A request takes 9 s while the expander hangs.
      await expect.poll(cache, { timeout: 25_000 }).not.toBe('HIT');
      return last;
    };

    test('is set by X-Accel-Expires, not max-age', async () => {
      const path = target('/api', aSecond('public, max-age=600'));
      await ask(path);
      expect(await afterHits(path)).toMatchObject({ status: 200, cache: 'EXPIRED' });
      expect(forwarded()).toBe(2);
    });

    test('all workers serve a refreshed response immediately', async () => {
      const path = `/api?${u}`;
      const crowd = () => Promise.all(Array.from({ length: 16 }, async () => (await ask(path)).body));
      application.defaultReply = { ...aSecond('public, max-age=600'), length: 100 };
      await crowd();
      expect(new Set(await crowd())).toEqual(new Set(['x'.repeat(100)]));
      application.defaultReply = { ...aSecond('public, max-age=600'), length: 200 };
      await expect.poll(async () => (await ask(path)).body).toHaveLength(200);
      expect(new Set(await crowd())).toEqual(new Set(['x'.repeat(200)]));
    });

    test('is extended by stale-while-revalidate', async () => {
      const reply = aSecond('public, max-age=600, stale-while-revalidate=30');
      const path = target('/api', { ...reply, delay: 1_900 });
      await ask(path);
      const { cache, milliseconds } = await afterHits(path);
      expect(cache).toBe('STALE');
      expect(milliseconds).toBeLessThan(1_600);
      await expect.poll(forwarded).toBe(2);
    });

    test('is extended by stale-if-error while the expander hangs or is down', async () => {
      const hung = `${target('/api', aSecond('public, max-age=600, stale-if-error=30'))}&hung`;
      await ask(hung);
      application.hangs = true;
      const stale = await afterHits(hung).finally(() => {
        application.hangs = false;
      });
      expect(stale).toMatchObject({ status: 200, cache: 'STALE' });

      const kept = target('/api', aSecond('public, max-age=600, stale-if-error=2'));
      const dropped = `${target('/api', aSecond('public, max-age=600'))}&dropped`;
      await ask(kept);
      await ask(dropped);
      const port = application.server.address();
      cutOff(application.server);
      try {
        expect(await afterHits(dropped)).toMatchObject({ status: 502 });
        expect(await afterHits(kept)).toMatchObject({ status: 200, cache: 'STALE' });
        await expect.poll(async () => (await ask(kept)).status).toBe(502);
      } finally {
        application.server.listen(port);
      }
    });
  });

  /** Headers from one client that must not affect the response to the next client. */
  const sent: [string, string[]][] = [
    ['Host', ['tasks.localhost', 'expander.localhost', 'LOCALHOST:80', 'a-machine']],
    ['Accept-Encoding', ['gzip', 'br', 'gzip, deflate, br', 'br;q=0, gzip', 'GZIP;q=0.5', '*', 'zstd']],
    ['Range', ['bytes=0-3', 'bytes=0-1,3-4', 'bytes=99999-', 'lines=1']],
    ['If-None-Match', ['"tag"', '*', 'W/"tag"']],
    ['If-Modified-Since', ['Sat, 01 Jan 2000 00:00:00 GMT', 'Fri, 01 Jan 2100 00:00:00 GMT']],
    ['If-Range', ['"tag"']],
    ['Cookie', ['session=1']],
    ['Cache-Control', ['no-cache', 'no-store', 'only-if-cached']],
    ['Authorization', ['Basic eDp5']],
    ['Accept-Language', ['de']],
    ['X-Forwarded-Host', ['evil.example']],
    ['X-Accel-Expires', ['1000']],
    ['Expect', ['100-continue']],
    ['TE', ['trailers']],
    ['CDN-Loop', ['longhand', 'other']],
  ];
  const json = { 'Content-Type': 'application/json' };
  test.each<[path: string, what: string, reply: Reply]>([
    ['/api?', 'a short response', { headers: fresh }],
    ['/api/chain?', 'a long response', { headers: { ...fresh, ...json }, length: 2_000 }],
    ['/api?', 'a response too long to cache', { headers: { ...fresh, ...json }, length: 20_000 }],
    ['/api?', 'a response with Vary', { headers: { ...fresh, Vary: 'Cookie, Accept-Language' } }],
  ])('a request to %s does not affect the response to the next client: %s', async (path, _, reply) => {
    application.defaultReply = reply;
    /** Returns the response with random values removed. */
    const normalized = async (own: string, headers = {}, method = 'GET') => {
      const response = await ask(`${path}${own}`, { headers, method });
      const { date, 'x-request-id': id, ...rest } = response.headers;
      return JSON.stringify([response.status, rest, response.body])
        .replaceAll(own, 'own')
        .replaceAll(`${id}`, 'id');
    };
    const requests: [headers: Record<string, string>, method?: string][] = [
      ...sent.flatMap(([header, values]) =>
        values.map((value): [Record<string, string>] => [{ [header]: value }]),
      ),
      [{}, 'HEAD'],
      [{}, 'POST'],
      [{}, 'OPTIONS'],
    ];
    const compared = requests.map(async (request, i) => {
      // Each URL is new, so no earlier request can affect the first response.
      const special = await normalized(`${u}${i}a`, ...request);
      const plain = await normalized(`${u}${i}b`);
      expect([request, await normalized(`${u}${i}a`)]).toEqual([request, plain]);
      expect([request, await normalized(`${u}${i}b`, ...request)]).toEqual([request, special]);
    });
    await Promise.all(compared);
  });
});

/** Maximum size of a cached response (bytes). */
const largest = 2 * 4_096;
const keysPerMebibyte = 8_192;
/** The largest allowed LONGHAND_WORKERS. */
const maxWorkers = 16;

const read = (path: string) => readFile(join(import.meta.dirname, path), 'utf8');

test("the container's cache folder has room for one response per key", async () => {
  const zone = /keys_zone=responses:(\d+)m/.exec(await read('templates/expander.conf.template'));
  const folder = /"\/run\/responses:[^"]*\bsize=(\d+)m/.exec(await read('../docker-compose.yml'));
  const room = Number(folder?.[1]) * 1024 ** 2;
  // A deleted file takes up space while a worker has it open.
  const open =
    maxWorkers *
    Number(/open_file_cache max=(\d+)/.exec(await read('templates/expander.conf.template'))?.[1]);
  expect((Number(zone?.[1]) * keysPerMebibyte + open) * largest).toBeLessThanOrEqual(room);
});

/** Starts nginx in front of an application, with a new cache folder. */
async function startCaching(variables: { LONGHAND_API_RATE?: string }, keys = '2m') {
  const folder = testFolder();
  const application = scriptedApplication();
  const proxy = await startProxied(application.server, variables, (config) =>
    config.replace('responses keys_zone=responses:2m', `${folder} keys_zone=responses:${keys}`),
  );
  onTestFinished(() => proxy.stop());
  return { folder, application, proxy };
}

test('the rate limit applies to cache hits', async () => {
  const { application, proxy } = await startCaching({ LONGHAND_API_RATE: '1r/m' });
  const lines = [];
  for (let i = 0; i < 4; i += 1) {
    const response = await send(proxy.ports.expander, `/api?${replyWith({ headers: fresh })}`);
    lines.push(await logged(() => proxy.log, response));
  }
  expect(lines).toMatchObject([
    { status: 200, cache: 'MISS', limit: 'PASSED' },
    { status: 200, cache: 'HIT', limit: 'PASSED' },
    { status: 429, limit: 'REJECTED' },
    { status: 429, limit: 'REJECTED' },
  ]);
  expect(application.arrived).toHaveLength(1);
});

test('the cache stays within its size limit', async () => {
  const { folder, proxy } = await startCaching({ LONGHAND_API_RATE: '1000000r/s' }, '64k');
  const agent = new http.Agent({ keepAlive: true, maxSockets: 32 });
  onTestFinished(() => agent.destroy());
  const reply = replyWith({ headers: fresh, length: 2_999 });
  const ask = async (i: number) => {
    const path = `/api?u=${i}&${reply}&${'x'.repeat((3 * i) % 4_000)}`;
    const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
    http.get({ agent, host: '127.0.0.1', port: proxy.ports.expander, path }, resolve).on('error', reject);
    const response = await promise;
    return `${response.statusCode} ${(await text(response)).length}`;
  };
  const responses = await Promise.all(
    Array.from({ length: rounds({ short: 800, long: 30_000 }) }, (_, i) => ask(i)),
  );
  expect(new Set(responses)).toEqual(new Set(['200 2999']));

  // nginx logs a request after it has cached the response.
  await expect.poll(() => proxy.log.filter((line) => line.startsWith('{')).length).toBe(responses.length);
  const kept = await readdir(folder);
  expect(kept.length).toBeGreaterThan(100);
  expect(kept.length).toBeLessThanOrEqual(keysPerMebibyte / 16);
  // nginx may delete files during the count.
  const size = (name: string) =>
    stat(join(folder, name)).then(
      ({ size }) => size,
      () => 0,
    );
  const sizes = await Promise.all(kept.map(size));
  expect(Math.max(...sizes)).toBeGreaterThan(4_096);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(largest);
});

test('nginx responds even if the cache folder is not writable', async () => {
  const { folder, application, proxy } = await startCaching({});
  // Replace the folder with a file, because root ignores permissions.
  await rm(folder, { recursive: true });
  await writeFile(folder, '');
  for (const chunked of [false, true]) {
    const path = `/api?u=${chunked}&${replyWith({ headers: fresh, length: 2_999, chunked })}`;
    const before = application.arrived.length;
    for (let i = 0; i < 3; i += 1) {
      const { status, body } = await send(proxy.ports.expander, path);
      expect([status, body.trim().length]).toEqual([200, 2_999]);
    }
    expect(application.arrived.length - before).toBe(3);
  }
});
