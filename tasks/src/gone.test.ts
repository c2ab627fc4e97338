import http from 'node:http';
import { startRedisProcess, type TestRedis } from '@longhand/shared/testing/redis.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../testing/service.ts';
import { configuration } from '../testing/store.ts';

let redis: TestRedis;
let service: Service;
beforeAll(async () => {
  redis = await startRedisProcess(configuration);
  service = await startService({ REDIS_URL: redis.url });
});
afterAll(async () => {
  await service?.end('SIGKILL');
  await redis?.stop();
});

test.each([
  ['a form', 'task', { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': '1000' }],
  ['a form of unknown length', 'task', { 'Content-Type': 'application/x-www-form-urlencoded' }],
  ['JSON', 'tasks', { 'Content-Type': 'application/json', 'Content-Length': '1000' }],
  ['a file to import', 'tasks/import', { 'Content-Type': 'application/x-ndjson' }],
])(
  'a client that goes away while it sends %s is told in the log, and is no error',
  async (_, path, headers) => {
    service.log.splice(0);
    const request = http.request(`${service.url}${path}`, {
      method: 'POST',
      headers: { ...headers, Expect: '100-continue' },
    });
    request.on('error', () => {});
    // By then the service waits for the body.
    request.on('continue', () => request.write('{"title":', () => request.destroy()));
    request.flushHeaders();
    const answered = () => service.log.filter(({ msg }) => msg === 'request');
    await expect.poll(answered).toMatchObject([{ level: 'info', path: `/${path}`, status: 499 }]);
    expect(service.log.filter(({ level }) => level === 'error')).toEqual([]);
  },
);
