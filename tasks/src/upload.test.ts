import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startRedisProcess, type TestRedis } from '../../shared/testing/redis.ts';
import { type Service, startService } from '../testing/service.ts';
import { configuration } from '../testing/store.ts';
import { uploadTime } from './controllers/transfer.ts';

let redis: TestRedis;
let service: Service;

/** Logs how long the server of a request lets one take to arrive. */
const telltale = `
  import { subscribe } from 'node:diagnostics_channel';
  subscribe('http.server.request.start', ({ server }) =>
    console.log(JSON.stringify({ msg: 'server', requestTimeout: server.requestTimeout })),
  );
`;

beforeAll(async () => {
  redis = await startRedisProcess(configuration);
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(telltale)}`;
  service = await startService({ REDIS_URL: redis.url, NODE_OPTIONS });
});
afterAll(async () => {
  await service.end('SIGKILL');
  await redis.stop();
});

test('A file has the time that a slow line takes to arrive', async () => {
  await fetch(service.url);
  await expect.poll(() => service.log).toContainEqual({ msg: 'server', requestTimeout: uploadTime });
  expect((64 * 1024 ** 2 * 8) / (uploadTime / 1_000)).toBeLessThan(500_000);
});

test('A client that sends more than 64 MiB, length unsaid, gets the report of what stands before', async () => {
  const upload = request(`${service.url}tasks/import`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
  const answered = new Promise<{ status?: number | undefined; report: unknown }>((resolve, reject) => {
    upload.on('error', reject);
    upload.on('response', async (response) =>
      resolve({ status: response.statusCode, report: await json(response) }),
    );
  });
  upload.write('{"title":"milk"}\n');
  const blank = `${' '.repeat(60_000)}\n`;
  for (let sent = 0; sent <= 64 * 1024 ** 2; sent += blank.length) {
    if (!upload.write(blank)) await new Promise((drained) => upload.once('drain', drained));
  }
  upload.end();
  expect(await answered).toMatchObject({
    status: 413,
    report: { imported: 1, refused: 0, problems: [{ detail: 'A file to import has at most 64 MiB.' }] },
  });
  const list = await (await fetch(`${service.url}tasks`, { headers: { Accept: 'application/json' } })).json();
  expect(list).toMatchObject({ open: 1 });
});
