import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { startTemporaryProxy } from '@longhand/deploy/testing/temporary-proxy.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import { expect, onTestFinished, test } from 'vitest';
import { ordering, startObedientApplication } from './testing/obedient-application.ts';
import { send } from './testing/send.ts';

/** Bytes of memory that a cached answer takes at most, and keys that a zone of a MiB has room for. */
const largest = 2 * 4_096;
const keysPerMebibyte = 8_192;
/** The upper bound of LONGHAND_WORKERS. */
const maxWorkers = 16;

const read = (path: string) => readFile(join(import.meta.dirname, path), 'utf8');

test('the folder of the container has room for all answers that the zone has keys for', async () => {
  const zone = /keys_zone=answers:(\d+)m/.exec(await read('templates/cache.conf.template'));
  const folder = /"\/run\/answers:[^"]*\bsize=(\d+)m/.exec(await read('../docker-compose.yml'));
  const room = Number(folder?.[1]) * 1024 ** 2;
  // A removed file takes space for as long as a worker has it open.
  const open =
    maxWorkers * Number(/open_file_cache max=(\d+)/.exec(await read('templates/cache.conf.template'))?.[1]);
  expect((Number(zone?.[1]) * keysPerMebibyte + open) * largest).toBeLessThanOrEqual(room);
});

/** An expander behind nginx, which keeps answers in `folder`. */
async function startCaching(variables: Parameters<typeof startTemporaryProxy>[0], keys = '2m') {
  const folder = await mkdtemp(join(tmpdir(), 'longhand-answers-'));
  const application = await startObedientApplication();
  const proxy = await startTemporaryProxy(
    { ...variables, LONGHAND_EXPANDER_SERVER: `127.0.0.1:${application.port} max_fails=0` },
    (config) => config.replace('answers keys_zone=answers:2m', `${folder} keys_zone=answers:${keys}`),
  );
  onTestFinished(async () => {
    await proxy.stop();
    await application.stop();
    await rm(folder, { recursive: true });
  });
  return { folder, application, proxy };
}

const headers = { 'Cache-Control': 'public, max-age=600', 'X-Accel-Expires': '30' };

test('however many short URLs are asked for, the answers kept are bounded, and none is lost', async () => {
  const { folder, application, proxy } = await startCaching({ LONGHAND_API_RATE: '1000000r/s' }, '128k');
  const agent = new http.Agent({ keepAlive: true, maxSockets: 32 });
  onTestFinished(() => agent.destroy());
  const order = ordering({ headers, length: 2_999 });
  const ask = async (i: number) => {
    const path = `/api?u=${i}&${order}&${'x'.repeat(i % 4_000)}`;
    const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
    http.get({ agent, host: '127.0.0.1', port: proxy.ports.expander, path }, resolve).on('error', reject);
    const response = await promise;
    return `${response.statusCode} ${(await text(response)).length}`;
  };
  const answers = await Promise.all(
    Array.from({ length: rounds({ short: 3_000, long: 30_000 }) }, (_, i) => ask(i)),
  );
  expect(new Set(answers)).toEqual(new Set(['200 2999']));

  const kept = await readdir(folder);
  expect(kept.length).toBeGreaterThan(100);
  expect(kept.length).toBeLessThanOrEqual(keysPerMebibyte / 8);
  const sizes = await Promise.all(kept.map(async (name) => (await stat(join(folder, name))).size));
  expect(Math.max(...sizes)).toBeGreaterThan(4_096);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(largest);

  // What somebody removes is given no longer than a second, though nginx has it open.
  const asked = application.arrived.length;
  const removed = answers.length - 1;
  await ask(removed);
  expect(application.arrived).toHaveLength(asked);
  await Promise.all(kept.map((name) => rm(join(folder, name))));
  const askedAgain = async () => {
    await ask(removed);
    return application.arrived.length;
  };
  await expect.poll(askedAgain, { timeout: 10_000 }).toBeGreaterThan(asked);
});

test('a folder that cannot be written costs no answer: each is asked for again', async () => {
  const { folder, application, proxy } = await startCaching({});
  // Permissions would not keep root from writing.
  await rm(folder, { recursive: true });
  await writeFile(folder, '');
  for (const chunked of [false, true]) {
    const path = `/api?u=${chunked}&${ordering({ headers, length: 2_999, chunked })}`;
    const before = application.arrived.length;
    for (let i = 0; i < 3; i += 1) {
      const { status, body } = await send(proxy.ports.expander, path);
      expect([status, body.trim().length]).toEqual([200, 2_999]);
    }
    expect(application.arrived.length - before).toBe(3);
  }
});
