import { execFileSync } from 'node:child_process';
import http from 'node:http';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import { startTemporaryProxy } from '@longhand/deploy/testing/temporary-proxy.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import { send } from '@longhand/shared/testing/send.ts';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Hold, startCrowd } from './testing/crowd.ts';
import { memoryLimit, residentBytes } from './testing/memory.ts';
import { startProxied } from './testing/proxied.ts';

const wait = { timeout: 60_000 };

/** Maximum memory of nginx at its connection limit (bytes). */
const memoryBudget = 0.8 * (await memoryLimit('proxy'));
const longHeaders = rounds({ short: 500, long: 3_000 });
const manyUploads = rounds({ short: 500, long: 2_000 });
const manyRequests = rounds({ short: 2_000, long: 17_500 });

describe("The proxy's memory with four workers", async () => {
  // Opening all connections takes more than 5 s on a busy machine.
  const proxy = await startTemporaryProxy({ LONGHAND_WORKERS: '4' }, (text) =>
    text.replace('client_header_timeout 5s', 'client_header_timeout 60s'),
  );
  afterAll(proxy.stop);
  const quiet = await residentBytes(proxy.pid);

  const crowd = (options: Pick<Hold, 'count'> & Partial<Hold>) => {
    const where = { port: proxy.ports.tasks, from: '127.0.0.2' };
    const started = startCrowd({ kind: 'unfinished', ...where, ...options });
    onTestFinished(() => started.stop());
    return started;
  };
  /** Memory (bytes), extrapolated from `count` connections to `all`. */
  const extrapolated = async (count: number, all: number) =>
    quiet + ((await residentBytes(proxy.pid)) - quiet) * (all / count);

  test.each([
    [17_500, 100, manyRequests],
    [3_000, 31_000, longHeaders],
  ])('is enough for %i unfinished requests of %i bytes from one address', async (all, bytes, count) => {
    await crowd({ count, bytes }).reached();
    expect((await send(proxy.ports.all, '/', { host: 'elsewhere.example' })).status).toBe(200);
    expect(await extrapolated(count, all)).toBeLessThan(memoryBudget);
  });

  test('is enough for 2,000 unfinished forms from one address', async () => {
    await crowd({ kind: 'upload', count: manyUploads }).reached();
    // The kernel delivers the bodies after it has opened the connections.
    const held = async () => (await residentBytes(proxy.pid)) - quiet;
    await expect.poll(held, wait).toBeGreaterThan(manyUploads * 60_000);
    expect(await extrapolated(manyUploads, 2_000)).toBeLessThan(memoryBudget);
  });

  test.each<[name: 'expander' | 'tasks' | 'all', path: string]>([
    ['expander', '/api/expand'],
    ['tasks', '/task'],
    ['all', '/nowhere'],
  ])('is enough for 3,000 refused requests to %s with 31 KB request lines', async (name, path) => {
    const refused = crowd({ kind: 'refused', count: longHeaders, port: proxy.ports[name], path });
    const responses = () => Object.values(refused.held().statuses).reduce((sum, count) => sum + count, 0);
    await expect.poll(responses, wait).toBeGreaterThanOrEqual(longHeaders);
    // nginx needs up to four times the memory of the request line, on a busy machine.
    expect((await extrapolated(longHeaders, 3_000)) - quiet).toBeLessThan(3_000 * 125_000);
    expect(await extrapolated(longHeaders, 3_000)).toBeLessThan(memoryBudget);
  });

  test('stays within the limit for oversized headers', async () => {
    const beyond = crowd({ count: longHeaders, bytes: 125_000 });
    await expect.poll(() => beyond.held().statuses['431'], wait).toBeGreaterThan(longHeaders);
    expect(await extrapolated(longHeaders, 3_000)).toBeLessThan(memoryBudget);
  });
});

test.each([
  ['sending headers', 'GET / HTTP/1.1\r\nHost: localhost\r\n'],
  ['sending a body', 'POST /task HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n1234'],
  ['reading the response', 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'],
])('nginx times out a client that stalls while %s', async (_, bytes) => {
  // This response exceeds the buffers of nginx and the kernel.
  const application = http.createServer((_, response) => response.end(Buffer.alloc(32 * 1024 ** 2)));
  const proxy = await startProxied(application, {}, (text) =>
    text.replace(
      /((send|client_body)_timeout 15|client_header_timeout 5)s/g,
      (_, name) => `${name.replace(/\d+/, '1')}s`,
    ),
  );
  const client = connect(proxy.ports.tasks, '127.0.0.1').on('error', () => {});
  onTestFinished(async () => {
    client.destroy();
    await proxy.stop();
  });
  client.pause().write(bytes);
  // nginx logs a request when it ends.
  await expect.poll(() => proxy.log.length).toBe(1);
  expect(JSON.parse(proxy.log[0] ?? '').seconds).toBeGreaterThan(0.5);
});

test('nginx limits each address to 2,000 concurrent requests', async () => {
  const application = http.createServer(() => {});
  const limit = rounds({ short: 200, long: 2_000 });
  // Replace only the configured limit of 2,000.
  const proxy = await startProxied(application, {}, (text) =>
    text
      .replace('read_timeout 2s', 'read_timeout 90s')
      .replaceAll('limit_conn requests 2000', `limit_conn requests ${limit}`),
  );
  const where = { port: proxy.ports.tasks, from: '127.0.0.2' };
  const crowd = startCrowd({ kind: 'reader', ...where, count: limit + 100, path: '/hang' });
  onTestFinished(async () => {
    await Promise.all([crowd.stop(), proxy.stop()]);
  });
  await expect.poll(() => crowd.held().statuses['429'], wait).toBeGreaterThan(0);
  await expect.poll(() => connections(application), wait).toBe(limit);
  const other = http.get({ port: proxy.ports.tasks, localAddress: '127.0.0.3' }).on('error', () => {});
  await expect.poll(() => connections(application)).toBe(limit + 1);
  other.destroy();
});

const connections = (server: http.Server) => promisify(server.getConnections.bind(server))();

test.each([
  [1, '', 1, 16_384],
  [2, '', 2, 16_384],
  [3, '', 3, 10_922],
  [64, '', 4, 8_192],
  [64, '16', 16, 2_048],
  [2, '1', 1, 16_384],
])('%i cores, LONGHAND_WORKERS=%s: %i workers with %i connections each', (cores, wanted, count, each) => {
  const env = { LONGHAND_API_RATE: '10r/s', LONGHAND_WORKERS: wanted };
  const print = 'echo $LONGHAND_WORKERS $LONGHAND_WORKER_CONNECTIONS';
  const script = `nproc() { echo ${cores}; }; . ./derived.envsh && ${print}`;
  const output = execFileSync('sh', ['-c', script], { cwd: import.meta.dirname, env });
  expect(`${output}`).toBe(`${count} ${each}\n`);
});
