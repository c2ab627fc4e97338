import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { startRedisProcess } from '@longhand/shared/testing/redis.ts';
import { textFile } from '@longhand/shared/testing/text-file.ts';
import { startShortener } from '@longhand/shortener';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { logged, startService as start } from '../testing/process.ts';

const shortener = await startShortener();

let service: ChildProcess;
let url: URL;
let operations: string;

beforeAll(async () => {
  service = start();
  const listening = await logged(service, 'listening');
  expect(listening.version).toBe(manifest.version);
  url = new URL(listening.url);
  operations = listening.operations;
});
afterAll(async () => {
  service.kill('SIGKILL');
});

/** Returns the response header lines with lower-case names. */
async function answerTo(bytes: string): Promise<string[]> {
  const socket = connect(Number(url.port), url.hostname);
  socket.write(bytes);
  const [head = ''] = (await text(socket)).split('\r\n\r\n');
  return head.split('\r\n').map((line) => line.replace(/^[\w-]+:/, (name) => name.toLowerCase()));
}

describe('every response carries X-Power-By and Content-Type: text/html', () => {
  const get = (path: string, method = 'GET') =>
    `${method} ${path} HTTP/1.1\r\nHost: expander\r\nConnection: close\r\n\r\n`;

  test.each([
    ['the page', 200, get('/')],
    ['the page with an error', 403, get('/?u=http://10.0.0.1/')],
    ['the API without u', 200, get('/api')],
    ['a long URL', 200, get('/api?u=LINK')],
    ['a JSONP call', 200, get('/api?u=LINK&cb=f')],
    ['HEAD', 200, get('/api', 'HEAD')],
    ['a bad URL', 400, get('/api?u=http://')],
    ['a refused target', 403, get('/api?u=http://10.0.0.1/')],
    ['a bad callback', 400, get('/api?u=http://10.0.0.1/&cb=1')],
    ['an unknown path', 404, get('/nope')],
    ['HEAD of an unknown path', 404, get('/nope', 'HEAD')],
    ['an invalid path', 404, get('/%ff')],
    ['a wrong method', 405, get('/api', 'POST')],
    ['an unknown method', 405, get('/api', 'PROPFIND')],
    ['TRACE', 405, get('/api', 'TRACE')],
    ['no Host', 404, 'GET /nope HTTP/1.1\r\nConnection: close\r\n\r\n'],
    [
      'an expectation',
      405,
      'POST / HTTP/1.1\r\nHost: a\r\nExpect: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n',
    ],
    ['an upgrade', 404, 'GET /nope HTTP/1.1\r\nHost: a\r\nUpgrade: x\r\nConnection: upgrade, close\r\n\r\n'],
    ['bytes that are not HTTP', 400, 'HELO expander\r\n\r\n'],
  ])('%s', async (name, status, request) => {
    const lines = await answerTo(request.replace('LINK', `${shortener.url}/chain/1`));
    expect(lines[0]).toContain(`HTTP/1.1 ${status} `);
    expect(lines).toContain('x-power-by: Longhand');
    expect(lines).toContain('content-type: text/html');
    expect(lines.join('\n')).toMatch(/^content-security-policy: default-src 'none'/m);
    // Browsers do not run text/html as a script if nosniff is set.
    expect(lines.includes('x-content-type-options: nosniff')).toBe(name !== 'a JSONP call');
  });
});

describe('the process', () => {
  test('serves operations endpoints on a separate port', async () => {
    expect(await (await fetch(new URL('livez', operations))).text()).toBe('live\n');
    expect((await fetch(new URL('readyz', operations))).status).toBe(200);
    const metrics = await (await fetch(new URL('metrics', operations))).text();
    expect(metrics).toContain('http_server_request_duration_seconds');
    expect(metrics).toContain('expander_expansions_in_flight 0');
    expect((await fetch(new URL('livez', url))).status).toBe(404);
  });

  test('fails with an error that names all invalid variables', async () => {
    const faulty = start({
      EXPANDER_ALLOWED_NETWORKS: '10.0.0.0/33',
      EXPANDER_MAXREDIRECT: '3',
      PORT: 'http',
    });
    const stderr = await text(faulty.stderr as NonNullable<typeof faulty.stderr>);
    for (const name of ['EXPANDER_ALLOWED_NETWORKS=10.0.0.0/33', 'EXPANDER_MAXREDIRECT', 'PORT=http'])
      expect(stderr).toContain(name);
    expect(stderr).not.toContain('    at ');
    expect(faulty.exitCode ?? (await once(faulty, 'exit'))[0]).toBe(78);
  });

  test('logs that Redis rejected the password, but not the password', async () => {
    const redis = await startRedisProcess('tasks/redis.conf');
    onTestFinished(() => redis.stop());
    const [REDIS_USER_FILE, REDIS_PASSWORD_FILE] = [textFile('ann'), textFile('S3cret')];
    const refused = start({ REDIS_URL: redis.url, REDIS_USER_FILE, REDIS_PASSWORD_FILE });
    onTestFinished(() => void refused.kill('SIGKILL'));
    const entry = JSON.stringify(await logged(refused, 'redis is down'));
    expect(entry).toContain('WRONGPASS');
    expect(entry).not.toContain('S3cret');
  });

  test('stays live on SIGTERM until all requests in flight have finished', async () => {
    const under = fetch(new URL(`api?u=${shortener.url}/delay/700`, url));
    await expect.poll(() => shortener.requests.get('HEAD /delay/700')).toBe(1);
    service.kill('SIGTERM');
    await expect.poll(async () => (await fetch(new URL('readyz', operations))).status).toBe(503);
    expect(await (await under).text()).toBe(`${shortener.url}/delay/700`);
    expect(await once(service, 'exit')).toEqual([0, null]);
  });
});
