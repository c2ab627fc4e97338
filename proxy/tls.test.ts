import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { connect as connectHttp2, constants } from 'node:http2';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';
import { render } from '@longhand/deploy/native/configuration.ts';
import { testCertificateOf } from '@longhand/shared/testing/certificate.ts';
import { freePorts } from '@longhand/shared/testing/free-port.ts';
import { send } from '@longhand/shared/testing/send.ts';
import { testFolder } from '@longhand/shared/testing/text-file.ts';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { scriptedApplication, startProxied } from './testing/proxied.ts';

const host = '127.0.0.1';
const names = { LONGHAND_EXPANDER_NAME: 'expand.example.org', LONGHAND_TASKS_NAME: 'tasks.example.org' };
/** Port in redirects. nginx listens on another port. */
const published = '9443';

/** nginx with TLS in front of tasks. The expander is not running. */
const certificates = testFolder();
const { key, cert: ca } = await testCertificateOf('rsa', ...Object.values(names));
await writeFile(join(certificates, 'privkey.pem'), key);
await writeFile(join(certificates, 'fullchain.pem'), ca);
const proxy = await startWithTls({ LONGHAND_HTTPS_PORT: published });
afterAll(() => proxy.stop());

async function startWithTls(variables: { LONGHAND_HTTPS_PORT: string; LONGHAND_FENCED_NAME?: string }) {
  const { tls, plain, away } = await freePorts('tls', 'plain', 'away');
  const template = await readFile(join(import.meta.dirname, 'tls.conf.template'), 'utf8');
  // Replace the container's addresses, and `http2`, which needs nginx 1.25.1.
  const servers = render(template, { ...names, ...variables })
    .replaceAll('/var/lib/tls/current', certificates)
    .replaceAll('*:8443 ssl', `${host}:${tls} ssl http2`)
    .replaceAll('*:8090', `${host}:${plain}`)
    .replaceAll('http2 on;', '');
  const { LONGHAND_FENCED_NAME } = variables;
  const expander = { LONGHAND_EXPANDER_SERVER: `${host}:${away} max_fails=0`, LONGHAND_FENCED_NAME };
  const proxy = await startProxied(scriptedApplication().server, expander, (text, file) =>
    file.endsWith('index.conf') ? `${text}\n${servers}` : text,
  );
  return { ...proxy, tls, plain };
}

test.each([
  [200, names.LONGHAND_TASKS_NAME, '0'],
  [413, names.LONGHAND_TASKS_NAME, '100000'],
  [502, names.LONGHAND_EXPANDER_NAME, '0'],
])('a %i response over TLS has Strict-Transport-Security', async (status, name, length) => {
  const headers = { 'Content-Length': length };
  const response = await send(proxy.tls, '/', { host: name, ca, method: 'POST', headers });
  expect(response.status).toBe(status);
  expect(response.headers['strict-transport-security']).toBe('max-age=31536000');
  expect(response.headers['x-request-id']).toMatch(/^[0-9a-f]{32}$/);
});

test('only configured names redirect to https', async () => {
  for (const host of [names.LONGHAND_TASKS_NAME, `${names.LONGHAND_TASKS_NAME.toUpperCase()}:80`]) {
    const { status, headers } = await send(proxy.plain, '/tasks?x', { host });
    const location = `https://${names.LONGHAND_TASKS_NAME}:${published}/tasks?x`;
    expect([status, headers.location]).toEqual([301, location]);
    expect(headers['strict-transport-security']).toBeUndefined();
  }
  for (const host of ['evil.example', `${names.LONGHAND_TASKS_NAME}.evil.example`, '127.0.0.1']) {
    const { status, headers } = await send(proxy.plain, '/', { host });
    expect([host, status, headers.location]).toEqual([host, 404, undefined]);
  }
});

test('the redirect omits port 443', async () => {
  const proxy = await startWithTls({ LONGHAND_HTTPS_PORT: '443' });
  const { headers } = await send(proxy.plain, '/', { host: names.LONGHAND_EXPANDER_NAME });
  await proxy.stop();
  expect(headers.location).toBe(`https://${names.LONGHAND_EXPANDER_NAME}/`);
});

test.each([
  ['ECDHE-RSA-AES128-GCM-SHA256', true],
  ['ECDHE-RSA-CHACHA20-POLY1305', true],
  ['ECDHE-RSA-AES128-SHA256', false],
  ['ECDHE-RSA-AES256-SHA', false],
  ['AES128-GCM-SHA256', false],
])('TLS 1.2 accepts %s: %s', async (cipher, accepted) => {
  const where = { host, port: proxy.tls, servername: names.LONGHAND_TASKS_NAME, ca };
  const socket = connect({ ...where, maxVersion: 'TLSv1.2', ciphers: `${cipher}:@SECLEVEL=0` });
  const handshake = once(socket, 'secureConnect').then(
    () => true,
    () => false,
  );
  expect(await handshake).toBe(accepted);
  socket.destroy();
});

test('nginx does not start if the fenced name has no address', async () => {
  const variables = { LONGHAND_HTTPS_PORT: published, LONGHAND_FENCED_NAME: 'nowhere.invalid' };
  await expect(startWithTls(variables)).rejects.toThrow('nowhere.invalid has no address');
});

/** Sends GET over HTTP/2. Rejects if nginx ends the connection instead. */
async function getHttp2(authority: string, path: string) {
  const session = connectHttp2(`https://${authority}`, {
    ca,
    createConnection: () =>
      connect({ host, port: proxy.tls, servername: authority, ca, ALPNProtocols: ['h2'] }),
    maxSendHeaderBlockLength: 128 * 1024,
  });
  onTestFinished(() => session.destroy());
  const failed = Promise.withResolvers<never>();
  session.on('error', failed.reject);
  const request = session.request({ ':path': path }).on('error', failed.reject);
  const [headers] = await Promise.race([once(request, 'response'), failed.promise]);
  return { status: headers[':status'], body: await text(request) };
}

const tooLong = 'The URL is longer than 8192 bytes.';
test.each([16_385, 31_000])(
  'a request line of %i bytes over HTTP/2 returns 400 invalid_url',
  async (length) => {
    const fill = (start: string) => start.padEnd(length - 'GET  HTTP/2.0'.length, '{');
    const { LONGHAND_EXPANDER_NAME: expander, LONGHAND_TASKS_NAME: tasks } = names;
    expect(await getHttp2(expander, fill('/api?u='))).toEqual({ status: 400, body: tooLong });
    const json = await getHttp2(expander, fill('/api?format=json&u='));
    expect([json.status, JSON.parse(json.body)]).toEqual([400, { code: 'invalid_url', message: tooLong }]);
    const chain = await getHttp2(expander, fill('/api/chain?u='));
    expect([chain.status, JSON.parse(chain.body).error.code]).toEqual([400, 'invalid_url']);
    for (const name of [expander, tasks]) expect((await getHttp2(name, fill('/?q='))).status).toBe(414);
  },
);

test('a request line of more than 32 KiB ends an HTTP/2 connection', async () => {
  const path = '/api?u='.padEnd(33_000, '{');
  const error = `Session closed with error code ${constants.NGHTTP2_ENHANCE_YOUR_CALM}`;
  await expect(getHttp2(names.LONGHAND_EXPANDER_NAME, path)).rejects.toThrow(error);
});

test('a request line over HTTP/2 may be as long as its limit', async () => {
  for (const [name, limit] of [
    [names.LONGHAND_EXPANDER_NAME, 16_384],
    [names.LONGHAND_TASKS_NAME, 8_192],
  ] as const) {
    const { status } = await getHttp2(name, '/?q='.padEnd(limit - 'GET  HTTP/2.0'.length, '{'));
    expect(status).toBe(name === names.LONGHAND_TASKS_NAME ? 200 : 502);
  }
});
