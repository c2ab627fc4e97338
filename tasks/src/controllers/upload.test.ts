import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { startRedisProcess, type TestRedis } from '@longhand/shared/testing/redis.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../../testing/service.ts';
import { configuration } from '../../testing/store.ts';
import { uploadTime } from './transfer.ts';

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

/** Sends `line` until `size` bytes are on their way, and resolves with the answer once all of it is sent. */
async function upload(line: string, size: number) {
  const sending = request(`${service.url}tasks/import`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
  const sent = once(sending, 'finish');
  const answered = once(sending, 'response') as Promise<[IncomingMessage]>;
  const block = line.repeat(Math.ceil(60_000 / line.length));
  sending.write('{"title":"milk"}\n');
  for (let count = 0; count < size; count += block.length) {
    if (!sending.write(block)) await once(sending, 'drain');
  }
  sending.end();
  const [[response]] = await Promise.all([answered, sent]);
  return { status: response.statusCode, report: await json(response) };
}

test('A client that sends more than 64 MiB, length unsaid, gets the report of what stands before', async () => {
  expect(await upload(`${' '.repeat(60_000)}\n`, 64 * 1024 ** 2)).toMatchObject({
    status: 413,
    report: { imported: 1, refused: 0, problems: [{ detail: 'A file to import has at most 64 MiB.' }] },
  });
});

test('A client that sends much more after the import ended sends all of it and gets the report', async () => {
  expect(await upload('no JSON\n', 32 * 1024 ** 2)).toMatchObject({
    status: 422,
    report: { imported: 1, refused: 10_000, stopped: 10_002 },
  });
});
