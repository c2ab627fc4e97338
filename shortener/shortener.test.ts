import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { testCertificate } from '@longhand/shared/testing/certificate.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { examples, type Shortener, startShortener } from './shortener.ts';

let shortener: Shortener;
beforeAll(async () => {
  shortener = await startShortener();
});
afterAll(() => shortener.close());

/** One request; the answer without its body, which is not waited for. */
async function ask(path: string, method = 'HEAD', agent?: http.Agent) {
  const url = new URL(path, shortener.url);
  const request = http.request(url, { method, agent }).end();
  const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
  const { statusCode: status, headers } = answer;
  answer.on('error', () => {}).destroy();
  return { status, location: headers.location, headers };
}

/** The statuses on the way from `path` to an answer without Location. */
async function walk(path: string, method = 'HEAD') {
  const statuses = [];
  for (let next: string | undefined = path; next !== undefined; ) {
    const { status, location } = await ask(next, method);
    statuses.push(status);
    next = location?.replace(shortener.url, '');
  }
  return statuses;
}

describe('chains', () => {
  test('a chain of 5 is five redirects and then 200, for HEAD and for GET', async () => {
    expect(await walk('/chain/5')).toEqual([301, 301, 301, 301, 301, 200]);
    expect(await walk('/chain/1', 'GET')).toEqual([301, 200]);
  });

  test('the query holds for every hop: status, id, Cache-Control', async () => {
    const query = '?status=308&id=mine&cache-control=max-age%3D60';
    expect(await ask(`/chain/2${query}`)).toMatchObject({
      status: 308,
      location: `${shortener.url}/chain/1${query}`,
      headers: { 'cache-control': 'max-age=60' },
    });
    expect(await walk(`/chain/2${query}`)).toEqual([308, 308, 200]);
  });

  test('a relative chain names its targets by path', async () => {
    expect((await ask('/chain/2?relative')).location).toBe('/chain/1?relative');
  });

  test('a delay is kept at every hop', async () => {
    const started = performance.now();
    await walk('/chain/1?delay=30');
    expect(performance.now() - started).toBeGreaterThanOrEqual(58);
  });

  test('HEAD refused or reset, GET follows', async () => {
    expect(await walk('/head-not-allowed/2', 'GET')).toEqual([301, 301, 200]);
    expect((await ask('/head-not-allowed/2')).status).toBe(405);
    expect((await ask('/head-not-allowed/2?answer=501')).status).toBe(501);
    expect(await walk('/head-reset/1', 'GET')).toEqual([301, 200]);
    await expect(ask('/head-reset/1')).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  test('loops come round', async () => {
    expect((await ask('/loop')).location).toBe(`${shortener.url}/loop`);
    expect((await ask('/loop/2')).location).toBe(`${shortener.url}/loop/2?at=1`);
    expect((await ask('/loop/2?at=1')).location).toBe(`${shortener.url}/loop/2`);
  });
});

describe('errors', () => {
  test('any status, a redirect without Location, an empty one', async () => {
    expect((await ask('/status/503')).status).toBe(503);
    expect(await ask('/no-location')).toMatchObject({ status: 302, location: undefined });
    expect(await ask('/empty-location')).toMatchObject({ status: 302, location: '' });
  });

  test('the bytes of a Location are passed on as they are', async () => {
    const to = 'http://example.com/é?a=1&b=\u0080';
    const { location } = await ask(`/location?status=301&to=${encodeURI(to)}`);
    expect(Buffer.from(location ?? '', 'latin1').toString()).toBe(to);
    expect((await ask('/location?to=/%FF')).location).toBe('/\xff');
  });

  test('a reset and a malformed answer are errors of the connection', async () => {
    await expect(ask('/reset')).rejects.toMatchObject({ code: 'ECONNRESET' });
    await expect(ask('/malformed')).rejects.toMatchObject({ code: /^HPE_/ });
  });

  test('a hanging link answers nobody, and close() ends it', async () => {
    const own = await startShortener();
    const hanging = http.get(`${own.url}/hang`);
    const failed = once(hanging, 'error');
    await expect.poll(() => own.requests.get('GET /hang')).toBe(1);
    await own.close();
    expect((await failed)[0]).toMatchObject({ code: 'ECONNRESET' });
  });

  test('headers of a given size, and an endless body', async () => {
    expect((await ask('/headers/10000')).headers['x-filler']).toHaveLength(10_000);
    expect((await ask('/endless', 'GET')).status).toBe(200);
  });

  test.each(['/nothing', '/constructor', '/chain/x', '/chain/-1', '/status/999'])(
    '%s is 404',
    async (path) => {
      expect((await ask(path)).status).toBe(404);
    },
  );
});

test('connections and requests are counted; a kept connection counts once', async () => {
  const own = await startShortener();
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  for (const path of ['/chain/1?id=a', '/chain/1?id=b', '/chain/0']) {
    const [answer] = await once(http.get(own.url + path, { agent }), 'response');
    await once(answer.resume(), 'end');
  }
  expect(own.connections).toBe(1);
  expect(own.requests.get('GET /chain/1')).toBe(2);
  agent.destroy();
  await own.close();
});

test('the first page lists every example', async () => {
  const page = await (await fetch(shortener.url)).text();
  for (const [path] of examples) expect(page).toContain(path);
});

test('with a certificate it answers https, and says so in Location', async () => {
  const tls = await testCertificate();
  const secure = await startShortener({ tls });
  const request = https.request(`${secure.url}/chain/1`, { method: 'HEAD', ca: tls.cert }).end();
  const [answer] = await once(request, 'response');
  expect(answer.headers.location).toBe(`${secure.url}/chain/0`);
  await secure.close();
});
