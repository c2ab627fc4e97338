import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TemporaryProxy } from '@longhand/deploy/testing/temporary-proxy.ts';
import { engineAnswers } from '@longhand/shared/testing/engine.ts';
import { cutOff } from '@longhand/shared/testing/listening.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import { type RequestOptions, send, type TestResponse } from '@longhand/shared/testing/send.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { logged, type Order, obedientApplication, ordering, startProxied } from './testing/proxied.ts';

/** As the expander sends it: kept for 30 s of ten minutes. */
const fresh = { 'Cache-Control': 'public, max-age=600', 'X-Accel-Expires': '30' };

/** The nginx of the stack's image; a machine without an engine has only its own, which may be as old as 1.22. */
const image = (await engineAnswers()) ? 'nginx:1.30' : undefined;

describe(`The edge cache of ${image ?? "this machine's nginx"}`, () => {
  const application = obedientApplication();
  let proxy: TemporaryProxy;
  beforeAll(async () => {
    const impatient = (text: string) => text.replace('read_timeout 9s', 'read_timeout 5s');
    proxy = await startProxied(application.server, {}, impatient, image);
  }, 60_000);
  afterAll(() => proxy?.stop());

  /** A short URL that nobody has asked for. */
  let u: string;
  beforeEach(() => {
    u = `u=https://sho.rt/${randomUUID()}`;
  });
  const target = (path: string, order: Order = { headers: fresh }) => `${path}?${u}&${ordering(order)}`;
  /** Sends a request. Once its response is in the log, it is in the cache. */
  const ask = async (path: string, options?: RequestOptions) => {
    const response = await send(proxy.ports.expander, path, options);
    await statusOf(response);
    return response;
  };
  /** How often the application was asked for this test's URL. */
  const asked = () => application.arrived.filter(({ url }) => url.includes(u)).length;
  const statusOf = async (response: TestResponse) => (await logged(() => proxy.log, response)).cache;

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
    const ids = { 'x-request-id': expect.any(String) };
    expect(second.headers).toEqual({ ...first.headers, ...ids });
    expect(await statusOf(first)).toBe('MISS');
    expect(await statusOf(second)).toBe('HIT');
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

  test('keeps nothing of tasks', async () => {
    for (const path of [
      '/',
      '/tasks',
      '/tasks/1',
      '/api',
      '/openapi.json',
      '/public/0123456789ab/style.css',
    ]) {
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

  test('requests for one cold link go to the expander at once', async () => {
    const path = target('/api', { headers: fresh, delay: 1_500 });
    await Promise.all([ask(path), ask(path)]);
    expect(asked()).toBe(2);
  });

  test('a cached answer says when the expander gave it', async () => {
    const { headers } = await ask(target('/api'));
    const later = async () => new Date().toUTCString() !== headers.date;
    await expect.poll(later).toBe(true);
    expect((await ask(target('/api'))).headers.date).toBe(headers.date);
  });

  describe('the lifetime of an answer', () => {
    const aSecond = (cacheControl: string): Order => ({
      headers: { 'Cache-Control': cacheControl, 'X-Accel-Expires': '1' },
    });
    /** Asks until the answer is something else than a hit, and says what and how long it took. */
    const afterHits = async (path: string) => {
      const last = { status: 0, cache: '', milliseconds: 0 };
      const cache = async () => {
        const started = performance.now();
        // An old answer is logged once the new one is there.
        const response = await send(proxy.ports.expander, path);
        const milliseconds = performance.now() - started;
        Object.assign(last, { status: response.status, cache: await statusOf(response), milliseconds });
        return last.cache;
      };
      await expect.poll(cache).not.toBe('HIT');
      return last;
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
      const path = target('/api', { ...order, delay: 1_900 });
      await ask(path);
      const { cache, milliseconds } = await afterHits(path);
      expect(cache).toBe('STALE');
      expect(milliseconds).toBeLessThan(1_600);
      await expect.poll(asked).toBe(2);
    });

    test('goes on for stale-if-error while no expander answers, and not much longer', async () => {
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

  /** What one client sends, which changes nothing for the next one. */
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
    ['Origin', ['http://evil.example']],
    ['Accept', ['application/json', 'text/html']],
    ['Accept-Language', ['de']],
    ['X-Forwarded-For', ['8.8.8.8']],
    ['X-Forwarded-Host', ['evil.example']],
    ['X-Forwarded-Proto', ['https']],
    ['X-HTTP-Method-Override', ['DELETE']],
    ['X-Accel-Expires', ['1000']],
    ['X-Original-URL', ['/other']],
    ['Expect', ['100-continue']],
    ['User-Agent', ['Mozilla/5.0']],
    ['TE', ['trailers']],
    ['CDN-Loop', ['longhand', 'other']],
  ];
  const json = { 'Content-Type': 'application/json' };
  test.each<[path: string, what: string, order: Order]>([
    ['/api?', 'an answer', { headers: fresh }],
    ['/api/chain?', 'a long one', { headers: { ...fresh, ...json }, length: 2_000 }],
    ['/api?', 'one too long to keep', { headers: { ...fresh, ...json }, length: 20_000 }],
    ['/api?', 'one of a kind', { headers: { ...fresh, Vary: 'Cookie, Accept-Language' } }],
  ])('what one client sends to %s changes nothing for the next: %s', async (path, _, order) => {
    application.standing = order;
    /** What comes back, without what is new in each response. */
    const answer = async (own: string, headers = {}, method = 'GET') => {
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
      // The first to ask for either hears what nobody else can have changed.
      const special = await answer(`${u}${i}a`, ...request);
      const plain = await answer(`${u}${i}b`);
      expect([request, await answer(`${u}${i}a`)]).toEqual([request, plain]);
      expect([request, await answer(`${u}${i}b`, ...request)]).toEqual([request, special]);
    });
    await Promise.all(compared);
  });
});

/** Bytes of memory that a cached answer takes at most, and keys that a zone of a MiB has room for. */
const largest = 2 * 4_096;
const keysPerMebibyte = 8_192;
/** The upper bound of LONGHAND_WORKERS. */
const maxWorkers = 16;

const read = (path: string) => readFile(join(import.meta.dirname, path), 'utf8');

test('the folder of the container has room for all answers that the zone has keys for', async () => {
  const zone = /keys_zone=answers:(\d+)m/.exec(await read('templates/expander.conf.template'));
  const folder = /"\/run\/answers:[^"]*\bsize=(\d+)m/.exec(await read('../docker-compose.yml'));
  const room = Number(folder?.[1]) * 1024 ** 2;
  // A removed file takes space for as long as a worker has it open.
  const open =
    maxWorkers *
    Number(/open_file_cache max=(\d+)/.exec(await read('templates/expander.conf.template'))?.[1]);
  expect((Number(zone?.[1]) * keysPerMebibyte + open) * largest).toBeLessThanOrEqual(room);
});

/** An expander behind nginx, which keeps answers in `folder`. */
async function startCaching(variables: { LONGHAND_API_RATE?: string }, keys = '2m') {
  const folder = await mkdtemp(join(tmpdir(), 'longhand-answers-'));
  const application = obedientApplication();
  const proxy = await startProxied(application.server, variables, (config) =>
    config.replace('answers keys_zone=answers:2m', `${folder} keys_zone=answers:${keys}`),
  );
  onTestFinished(async () => {
    await proxy.stop();
    await rm(folder, { recursive: true });
  });
  return { folder, application, proxy };
}

test('a cached answer counts with the rate limit, and the log says so', async () => {
  const { application, proxy } = await startCaching({ LONGHAND_API_RATE: '1r/m' });
  const lines = [];
  for (let i = 0; i < 4; i += 1) {
    const response = await send(proxy.ports.expander, `/api?${ordering({ headers: fresh })}`);
    // A response that is in the log is in the cache.
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

test('however many short URLs are asked for, the answers kept are bounded, and none is lost', async () => {
  const { folder, application, proxy } = await startCaching({ LONGHAND_API_RATE: '1000000r/s' }, '128k');
  const agent = new http.Agent({ keepAlive: true, maxSockets: 32 });
  onTestFinished(() => agent.destroy());
  const order = ordering({ headers: fresh, length: 2_999 });
  const ask = async (i: number) => {
    const path = `/api?u=${i}&${order}&${'x'.repeat((3 * i) % 4_000)}`;
    const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
    http.get({ agent, host: '127.0.0.1', port: proxy.ports.expander, path }, resolve).on('error', reject);
    const response = await promise;
    return `${response.statusCode} ${(await text(response)).length}`;
  };
  const answers = await Promise.all(
    Array.from({ length: rounds({ short: 1_500, long: 30_000 }) }, (_, i) => ask(i)),
  );
  expect(new Set(answers)).toEqual(new Set(['200 2999']));

  // Once its response is in the log, it is in the cache.
  const requests = () => proxy.log.filter((line) => line.startsWith('{')).length;
  await expect.poll(requests).toBe(answers.length);
  const kept = await readdir(folder);
  expect(kept.length).toBeGreaterThan(100);
  expect(kept.length).toBeLessThanOrEqual(keysPerMebibyte / 8);
  // nginx goes on removing what has no room.
  const size = (name: string) =>
    stat(join(folder, name)).then(
      ({ size }) => size,
      () => 0,
    );
  const sizes = await Promise.all(kept.map(size));
  expect(Math.max(...sizes)).toBeGreaterThan(4_096);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(largest);

  // What somebody removes is given no longer than a second, though nginx has it open.
  const asked = application.arrived.length;
  const removed = answers.length - 1;
  await ask(removed);
  expect(application.arrived).toHaveLength(asked);
  await Promise.all(kept.map((name) => rm(join(folder, name), { force: true })));
  const askedAgain = async () => {
    await ask(removed);
    return application.arrived.length;
  };
  await expect.poll(askedAgain, { timeout: 10_000 }).toBeGreaterThan(asked);
});

test('a folder that cannot be written costs no answer: each is asked for again', async () => {
  const { folder, application, proxy } = await startCaching({});
  // Permissions would not keep root from writing.
  await rm(folder, { recursive: true });
  await writeFile(folder, '');
  for (const chunked of [false, true]) {
    const path = `/api?u=${chunked}&${ordering({ headers: fresh, length: 2_999, chunked })}`;
    const before = application.arrived.length;
    for (let i = 0; i < 3; i += 1) {
      const { status, body } = await send(proxy.ports.expander, path);
      expect([status, body.trim().length]).toEqual([200, 2_999]);
    }
    expect(application.arrived.length - before).toBe(3);
  }
});
