import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
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
  // Replace the container's addresses, and remove `http2`, which needs nginx 1.25.1.
  const servers = render(template, { ...names, ...variables })
    .replaceAll('/var/lib/tls/current', certificates)
    .replaceAll('*:8443', `${host}:${tls}`)
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

test('nginx closes requests for tasks on a fenced address', async () => {
  const proxy = await startWithTls({ LONGHAND_HTTPS_PORT: published, LONGHAND_FENCED_NAME: 'localhost' });
  onTestFinished(() => proxy.stop());
  const { all, tasks, expander } = proxy.ports;
  const name = names.LONGHAND_TASKS_NAME;
  for (const path of ['/', '/tasks', '/no-such-page', '//']) {
    await expect(send(all, path, { host: 'tasks.localhost' })).rejects.toMatchObject({ code: 'ECONNRESET' });
    await expect(send(tasks, path)).rejects.toMatchObject({ code: 'ECONNRESET' });
    await expect(send(proxy.tls, path, { host: name, ca })).rejects.toMatchObject({ code: 'ECONNRESET' });
  }
  expect((await send(expander, '/')).status).toBe(502);
});

test('nginx does not start if the fenced name has no IPv4 address', async () => {
  const variables = { LONGHAND_HTTPS_PORT: published, LONGHAND_FENCED_NAME: '::1' };
  await expect(startWithTls(variables)).rejects.toThrow('::1 has no IPv4 address');
});
