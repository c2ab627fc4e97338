import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import http, { type IncomingHttpHeaders } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { configureProxy, render } from '@longhand/deploy/native/configuration.ts';
import { type Part, startPart } from '@longhand/deploy/native/part.ts';
import { proxy } from '@longhand/deploy/native/parts.ts';
import { freePorts } from '@longhand/deploy/native/ports.ts';
import { searchPath } from '@longhand/deploy/native/stack.ts';
import { testCertificate } from '@longhand/shared/testing/certificate.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask } from './testing/ask.ts';

const host = '127.0.0.1';
const names = {
  LONGHAND_EXPANDER_NAME: 'expand.example.org',
  LONGHAND_TASKS_NAME: 'tasks.example.org',
};

/** nginx with the servers for TLS, before a tasks application that answers and an expander that is away. */
let folder: string;
let nginx: Part;
let ports: Record<'all' | 'expander' | 'tasks' | 'tls' | 'plain' | 'away', number>;
let ca: string;
const tasks = http.createServer((request, response) => {
  request.resume();
  response.end('echo');
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longhand-tls-'));
  ports = await freePorts('all', 'expander', 'tasks', 'tls', 'plain', 'away');
  await new Promise<void>((resolve) => tasks.listen(0, host, resolve));
  const prefix = join(folder, 'proxy');
  await configureProxy(prefix, {
    LONGHAND_LISTEN: host,
    LONGHAND_PORT: `${ports.all}`,
    LONGHAND_EXPANDER_PORT: `${ports.expander}`,
    LONGHAND_TASKS_PORT: `${ports.tasks}`,
    LONGHAND_API_RATE: '10r/s',
    LONGHAND_API_BURST: '10',
    LONGHAND_EXPANDER_SERVER: `${host}:${ports.away} max_fails=0`,
    LONGHAND_TASKS_SERVER: `${host}:${(tasks.address() as AddressInfo).port} max_fails=0`,
  });
  const { key, cert } = await testCertificate(...Object.values(names));
  ca = cert;
  await writeFile(join(folder, 'privkey.pem'), key);
  await writeFile(join(folder, 'fullchain.pem'), cert);
  const template = await readFile(join(import.meta.dirname, 'tls.conf.template'), 'utf8');
  // As in the container, but for its addresses, and `http2`, which nginx knows from 1.25.1 on.
  const servers = render(template, names)
    .replaceAll('/etc/nginx/tls', folder)
    .replaceAll('*:8443', `${host}:${ports.tls}`)
    .replaceAll('*:8090', `${host}:${ports.plain}`)
    .replaceAll('http2 on;', '');
  await writeFile(join(prefix, 'conf.d', 'tls.conf'), servers);
  const env = { PATH: searchPath(process.env) };
  nginx = await startPart(proxy({ host, port: ports.tls }, { folder, env, write: () => {} }));
});
afterAll(async () => {
  await nginx?.stop();
  tasks.closeAllConnections();
  tasks.close();
  await rm(folder, { recursive: true, force: true });
});

/** Asks the server called `servername` over TLS, and resolves with the status and the headers. */
function askOver(servername: string, path: string, headers: http.OutgoingHttpHeaders = {}) {
  return new Promise<{ status: number | undefined; headers: IncomingHttpHeaders }>((resolve, reject) => {
    const request = https.request({
      ...{ host, port: ports.tls, servername, ca, agent: false },
      ...{ path, method: 'POST', headers: { Host: servername, ...headers } },
    });
    request.on('error', reject).on('response', (response) => {
      resolve({ status: response.statusCode, headers: response.headers });
      request.destroy();
    });
    request.flushHeaders();
  });
}

test.each([
  [200, 'an answer of the application', names.LONGHAND_TASKS_NAME, '/', { 'Content-Length': '0' }],
  [413, 'a request that is too long', names.LONGHAND_TASKS_NAME, '/', { 'Content-Length': '100000' }],
  [502, 'an application that is away', names.LONGHAND_EXPANDER_NAME, '/', { 'Content-Length': '0' }],
])('over TLS, %i for %s says that there is nothing else than TLS', async (status, _, name, path, headers) => {
  const answer = await askOver(name, path, headers);
  expect(answer.status).toBe(status);
  expect(answer.headers['strict-transport-security']).toBe('max-age=31536000');
  expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f]{32}$/);
});

test('without TLS nothing is said of it, and a real name leads to where it is', async () => {
  for (const path of ['/', '/nothing']) {
    const { headers } = await ask(ports.all, path);
    expect(headers['strict-transport-security']).toBeUndefined();
  }
  const { status, headers } = await ask(ports.plain, '/tasks?x', { host: names.LONGHAND_TASKS_NAME });
  expect([status, headers.location]).toEqual([301, `https://${names.LONGHAND_TASKS_NAME}/tasks?x`]);
  expect(headers['strict-transport-security']).toBeUndefined();
});
