import { spawnSync } from 'node:child_process';
import { childEnvironment } from '@longhand/shared/testing/child-environment.ts';
import { startRedisProcess } from '@longhand/shared/testing/redis.ts';
import { sendRaw } from '@longhand/shared/testing/send.ts';
import { expect, onTestFinished, test } from 'vitest';
import { addByForm, serviceOfTest, useService } from '../testing/service.ts';
import { configuration } from '../testing/store.ts';
import { securityHeaders } from './web/responses.ts';

const kept = useService();

const status = async (url: string) => (await fetch(url)).status;

test('logs its address and requests, and counts requests', async () => {
  const own = kept.service;
  expect(own.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
  expect(await status(own.url)).toBe(200);
  const headers = { 'X-Request-Id': 'a1'.repeat(16), 'X-Forwarded-For': '192.0.2.1' };
  const refused = await fetch(`${own.url}tasks/0`, { headers });
  expect(await refused.text()).toContain(`request ${headers['X-Request-Id']}`);
  await expect.poll(() => own.log.find(({ status }) => status === 404)).toBeDefined();
  // docs/operate.md lists these fields.
  expect(own.log.find(({ status }) => status === 404)).toEqual({
    ...{ level: 'info', time: expect.any(String), service: 'tasks', msg: 'request', method: 'GET' },
    ...{ path: '/tasks/0', status: 404, seconds: expect.any(Number), error: 'unknown_task' },
    ...{ requestId: headers['X-Request-Id'], client: '192.0.2.1' },
  });
  expect(await status(`${own.operations}livez`)).toBe(200);
  expect(await status(`${own.operations}readyz`)).toBe(200);
  expect((await addByForm(own, 'milk')).status).toBe(302);
  const metrics = await (await fetch(`${own.operations}metrics`)).text();
  expect(metrics).toContain(
    'http_server_request_duration_seconds_count{http_request_method="GET",http_response_status_code="200",url_scheme="http",http_route="/"} 2',
  );
  expect(await status(`${own.url}metrics`)).toBe(404);
});

test('logs no warnings with our redis.conf', () => {
  expect(kept.service.log.filter(({ level }) => level === 'warn')).toEqual([]);
});

test.each([
  ['text that is not HTTP', 'nonsense', '"code":"bad_request"'],
  ['an invalid Host', 'GET / HTTP/1.1\r\nHost: a:99999\r\nConnection: close', '400 bad request'],
])('responds to %s with 400 and the common headers', async (_, head, body) => {
  const response = (await sendRaw(Number(new URL(kept.service.url).port), `${head}\r\n\r\n`)).toLowerCase();
  expect(response).toMatch(/^http\/1\.1 400 /);
  expect(response).toContain(body);
  for (const [name, value] of Object.entries({ ...securityHeaders, 'Cache-Control': 'no-store, no-cache' }))
    expect(response).toContain(`\r\n${name}: ${value}\r\n`.toLowerCase());
});

test('responds with 503 until Redis starts, and then warns about unsafe settings', async () => {
  const unsafe = { appendonly: 'no', appendfsync: 'everysec', 'maxmemory-policy': 'allkeys-lru' };
  const options = Object.entries(unsafe).flatMap(([name, value]) => [`--${name}`, value]);
  const own = await startRedisProcess(configuration, ...options);
  onTestFinished(() => own.stop());
  await own.kill();
  const service = await serviceOfTest({ REDIS_URL: own.url });
  const page = await fetch(service.url);
  expect(page.status).toBe(503);
  expect(page.headers.get('retry-after')).not.toBeNull();
  expect(await status(`${service.operations}readyz`)).toBe(503);
  expect(await status(`${service.operations}livez`)).toBe(200);
  await own.start();
  await expect.poll(() => status(service.url)).toBe(200);
  const warned = () =>
    service.log.flatMap(({ level, setting }) => (level === 'warn' && setting ? [setting] : []));
  await expect.poll(warned).toEqual(Object.keys(unsafe));
});

test('exits with 78 and an error message if the environment is invalid', () => {
  const { status, stderr } = spawnSync(process.execPath, [`${import.meta.dirname}/main.ts`], {
    env: { ...childEnvironment, TASKS_COLOUR: 'red', PORT: 'x' },
    encoding: 'utf8',
  });
  expect(stderr).toBe(
    'Invalid environment:\n  TASKS_COLOUR: unknown variable\n  PORT=x: is not a whole number\n',
  );
  expect(status).toBe(78);
});

test('exits with 0 on SIGTERM', async () => {
  expect(await kept.service.end('SIGTERM')).toBe(0);
});
