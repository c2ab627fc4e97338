import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { testCertificate } from '@longhand/shared/testing/certificate.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Shortener, startShortener } from './shortener.ts';

let shortener: Shortener;
beforeAll(async () => {
  shortener = await startShortener();
});
afterAll(() => shortener.close());

/** Sends a request. @returns the response without its body. */
async function send(path: string, method = 'HEAD', agent?: http.Agent) {
  const request = http.request(new URL(path, shortener.url), { method, agent }).end();
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  const { statusCode: status, headers } = response;
  response.on('error', () => {}).destroy();
  return { status, location: headers.location, headers };
}

/** Follows redirects from `path`. @returns the statuses. */
async function follow(path: string, method = 'HEAD') {
  const statuses = [];
  for (let next: string | undefined = path; next !== undefined; ) {
    const { status, location } = await send(next, method);
    statuses.push(status);
    next = location?.replace(shortener.url, '');
  }
  return statuses;
}

test('/chain/5 redirects five times and then returns 200', async () => {
  expect(await follow('/chain/5')).toEqual([301, 301, 301, 301, 301, 200]);
  expect(await follow('/chain/1', 'GET')).toEqual([301, 200]);
  expect((await send('/close/1')).headers).toMatchObject({
    location: `${shortener.url}/close/0`,
    connection: 'close',
  });
});

test('query parameters apply to every hop', async () => {
  const query = '?status=308&id=mine&cache-control=max-age%3D60';
  expect(await send(`/chain/2${query}`)).toMatchObject({
    status: 308,
    location: `${shortener.url}/chain/1${query}`,
    headers: { 'cache-control': 'max-age=60' },
  });
  expect(await follow(`/chain/2${query}`)).toEqual([308, 308, 200]);
});

test('a delay applies to every hop', async () => {
  const started = performance.now();
  await follow('/chain/1?delay=30');
  expect(performance.now() - started).toBeGreaterThanOrEqual(58);
});

test('/location can send arbitrary bytes in the Location header', async () => {
  const to = 'http://example.com/é?a=1&b=\u0080';
  const { location } = await send(`/location?status=301&to=${encodeURI(to)}`);
  expect(Buffer.from(location ?? '', 'latin1').toString()).toBe(to);
  expect((await send('/location?to=/%FF')).location).toBe('/\xff');
  expect((await send('/location?to=')).location).toBe('');
});

test('/reset and /malformed cause connection errors', async () => {
  await expect(send('/reset')).rejects.toMatchObject({ code: 'ECONNRESET' });
  await expect(send('/malformed')).rejects.toMatchObject({ code: /^HPE_/ });
});

test('/hang does not respond before the shortener closes', async () => {
  const own = await startShortener();
  const hanging = http.get(`${own.url}/hang`);
  const failed = once(hanging, 'error');
  await expect.poll(() => own.requests.get('GET /hang')).toBe(1);
  await own.close();
  expect((await failed)[0]).toMatchObject({ code: 'ECONNRESET' });
});

test.each([
  ['/nothing', 404],
  ['/constructor', 404],
  ['/chain/x', 404],
  ['/chain/-1', 404],
  ['/status/999', 404],
  ['/status/503', 503],
  ['/loop', 301],
  ['/close/0', 200],
  ['/', 200],
])('%s returns %i', async (path, status) => {
  expect((await send(path)).status).toBe(status);
});

test('counts requests and connections', async () => {
  const own = await startShortener();
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  for (const path of ['/chain/1?id=a', '/chain/1?id=b', '/chain/0']) {
    const [response] = await once(http.get(own.url + path, { agent }), 'response');
    await once(response.resume(), 'end');
  }
  expect(own.connections).toBe(1);
  expect(own.requests.get('GET /chain/1')).toBe(2);
  agent.destroy();
  await own.close();
});

test('serves https and redirects to https if it has a certificate', async () => {
  const tls = await testCertificate();
  const secure = await startShortener({ tls });
  const request = https.request(`${secure.url}/chain/1`, { method: 'HEAD', ca: tls.cert }).end();
  const [response] = await once(request, 'response');
  expect(response.headers.location).toBe(`${secure.url}/chain/0`);
  await secure.close();
});
