import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testCertificate } from '@longhand/shared/testing/certificate.ts';
import { freePort } from '@longhand/shared/testing/free-port.ts';
import { randomNumbers } from '@longhand/shared/testing/random.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startTemporaryProxy } from '../testing/temporary-proxy.ts';

const missing = spawnSync('mtail', ['--version']).error !== undefined;
const programs = join(import.meta.dirname, 'mtail');

/** What nginx's log says of a request, as far as it is counted. */
const fields = {
  service: 'proxy',
  msg: 'request',
  method: 'GET',
  host: 'localhost',
  path: '/',
  status: 200,
  seconds: 0.002,
  bytes: 1,
  requestId: '0',
  client: '192.0.2.1',
  application: 'tasks',
  key: '',
  upstream: 'unix:run/tasks.sock',
  upstreamStatus: '200',
  upstreamSeconds: '0.001',
  upstreamHeaderSeconds: '0.001',
  upstreamConnectSeconds: '0.000',
  limit: '',
  cache: '',
  cacheStatus: '',
};
const line = (change: Partial<typeof fields>): string =>
  // nginx always writes three digits.
  JSON.stringify({ ...fields, ...change }).replace(/"seconds":([\d.]+)/, (_, seconds) => {
    return `"seconds":${Number(seconds).toFixed(3)}`;
  });

/** What mtail exports after these lines: the series whose names begin so, and are not 0. */
function counted(lines: readonly string[], name: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'mtail-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'log'), lines.map((text) => `${text}\n`).join(''));
  const options = ['--one_shot', '--one_shot_format=prometheus', '--emit_prog_label=false'];
  const output = execFileSync(
    'mtail',
    [...options, `--progs=${programs}`, `--logs=${join(folder, 'log')}`, `--log_dir=${folder}`],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  );
  return output.split('\n').filter((text) => text.startsWith(name) && !text.endsWith(' 0'));
}

/** What nginx answers itself. */
const own = { upstreamSeconds: '', upstreamHeaderSeconds: '' };
const api = { application: 'expander', path: '/api' };

describe.skipIf(missing)(`At the door${missing ? ' (skipped: mtail is not installed)' : ''}`, () => {
  test.each<[string, Partial<typeof fields>, string]>([
    ['a page', {}, 'answered_by="service",application="tasks",cache="",status="200"'],
    [
      'one limited',
      { ...api, status: 429, limit: 'REJECTED', ...own },
      'answered_by="proxy",application="expander",cache="",status="429"',
    ],
    [
      'one from the edge cache',
      { ...api, cache: 'HIT', ...own },
      'answered_by="cache",application="expander",cache="HIT",status="200"',
    ],
    [
      'what is not for an application',
      { application: '', host: '', path: '', method: '', status: 400, ...own },
      'answered_by="proxy",application="",cache="",status="400"',
    ],
    [
      'a path that looks like a record',
      { path: '/","status":999,"seconds":1.0,\\', host: '"a"' },
      'answered_by="service",application="tasks",cache="",status="200"',
    ],
  ])('%s is counted', (_, change, labels) => {
    expect(counted([line(change)], 'door_requests_total')).toEqual([`door_requests_total{${labels}} 1`]);
  });

  test('what is not answered is a failure; that a website did not answer is an answer', () => {
    const lines = [
      line({ status: 503 }),
      line({ status: 504, upstreamSeconds: '10.0', upstreamHeaderSeconds: '-' }),
      line({ ...api, status: 502 }),
      line({ ...api, status: 504, cache: 'HIT', ...own }),
      line({ ...api, status: 502, upstreamSeconds: '0.0, 0.0', upstreamHeaderSeconds: '-, -' }),
      line({ ...api, status: 503 }),
      line({ status: 499, ...own }),
      line({ status: 404 }),
    ];
    expect(counted(lines, 'door_failures_total')).toEqual([
      'door_failures_total{application="expander"} 2',
      'door_failures_total{application="tasks"} 2',
    ]);
  });

  test('hits are expansions for which no website was asked', () => {
    const lines = [
      line({ ...api, cache: 'HIT', ...own }),
      line({ ...api, cache: 'MISS', cacheStatus: 'Longhand; hit' }),
      line({ ...api, cache: 'MISS' }),
      line({}),
    ];
    expect(counted(lines, 'door_hit_duration_seconds_count')).toEqual([
      'door_hit_duration_seconds_count{application="expander"} 2',
    ]);
  });

  test('requests with a key are counted by its name', () => {
    const lines = [line({ ...api, key: 'a-friend' }), line({ ...api, key: '-', status: 401 }), line(api)];
    expect(counted(lines, 'door_key_requests_total')).toEqual([
      'door_key_requests_total{key="-",status="401"} 1',
      'door_key_requests_total{key="a-friend",status="200"} 1',
    ]);
  });

  test('event streams have no duration, and other output is ignored', () => {
    const lines = [
      line({}),
      line({ path: '/tasks/events', seconds: 600 }),
      'nginx: [warn] something',
      '{"service":"proxy","msg',
      '{"service":"tasks","msg":"request"}',
    ];
    expect(counted(lines, 'door_request_duration_seconds_sum')).toEqual([
      'door_request_duration_seconds_sum{application="tasks"} 0.002',
    ]);
  });

  test('whatever clients send, the number of series is bounded', () => {
    const random = randomNumbers();
    const pick = <Value>(...values: Value[]) => values[Math.floor(random() * values.length)] as Value;
    const text = () => pick('', '/', 'x', '"', '\u2028', '{}', '__proto__') + Math.floor(random() * 1e9);
    const lines = Array.from({ length: 4_000 }, () =>
      line({
        application: pick('expander', 'tasks', ''),
        method: pick('GET', 'BREW', text()),
        host: text(),
        path: pick(`/${text()}`, `/tasks/${text()}`, '/api'),
        status: pick(200, 404, 429, 503),
        cache: pick('', 'HIT'),
        ...pick<Partial<typeof fields>>(own, {}),
      }),
    );
    // 3 applications, 4 statuses, 3 that answer, with and without HIT.
    const series = counted(lines, 'door_requests_total');
    expect(series.length).toBeLessThanOrEqual(3 * 4 * 3 * 2);
    const total = series.reduce((sum, text) => sum + Number(text.split(' ').at(-1)), 0);
    expect(total).toBe(4_000);
  });

  test('in containers every nginx sends its lines to mtail, also of what it answers itself', async () => {
    const metrics = await freePort();
    const syslog = await freeUdpPort();
    const counter = spawn(
      'mtail',
      [
        `--progs=${programs}`,
        `--logs=udp://127.0.0.1:${syslog}`,
        '--emit_prog_label=false',
        '--logtostderr',
        '--address=127.0.0.1',
        `--port=${metrics}`,
      ],
      { stdio: 'ignore' },
    );
    onTestFinished(() => void counter.kill());
    const page = async () => (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
    await expect.poll(() => page().catch(() => '')).toContain('lines_total');
    const log = counterLog().replace('exporters:5514', `127.0.0.1:${syslog}`);
    const proxies = await Promise.all(
      [1, 2].map(() =>
        // No application answers at these addresses.
        startTemporaryProxy({ LONGHAND_API_RATE: '1r/m' }, (text, file) =>
          file.endsWith('http.conf') ? text.replace(/^access_log .*$/m, (own) => `${own}\n${log}`) : text,
        ),
      ),
    );
    onTestFinished(async () => {
      await Promise.all(proxies.map((proxy) => proxy.stop()));
    });
    for (const { ports } of proxies) {
      for (let i = 0; i < 3; i += 1) await fetch(`http://127.0.0.1:${ports.expander}/api?u=${i}`);
      await fetch(`http://127.0.0.1:${ports.tasks}/task`, { method: 'POST', body: 'x'.repeat(70_000) });
      await fetch(`http://127.0.0.1:${ports.tasks}/${'long'.repeat(2_000)}"`);
    }
    const counts = async () =>
      Object.fromEntries(
        [...(await page()).matchAll(/^door_requests_total\{.*status="(\d+)"\} (\d+)/gm)].map(
          ([, status, count]) => [status, count],
        ),
      );
    await expect.poll(counts).toEqual({ 413: '2', 429: '2', 502: expect.any(String) });
  });
});

async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  await new Promise<void>((resolve) => void socket.close(resolve));
  return port;
}

/** What proxy/derived.envsh makes in a container whose network has `exporters`. */
function counterLog(): string {
  const folder = mkdtempSync(join(tmpdir(), 'getent-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'getent'), '#!/bin/sh\nexit 0\n', { mode: 0o755 });
  return execFileSync('sh', ['-c', '. ./derived.envsh && printf %s "$LONGHAND_COUNTER_LOG"'], {
    cwd: join(import.meta.dirname, '../../proxy'),
    env: {
      PATH: `${folder}:${process.env.PATH}`,
      LONGHAND_API_RATE: '10r/s',
      LONGHAND_ACCESS_LOG: '/dev/stdout',
      NGINX_ENVSUBST_TEMPLATE_DIR: 'templates',
    },
    encoding: 'utf8',
  });
}

test('the certificate that a server shows is known by the end of its validity', async () => {
  const { key, cert } = await testCertificate('a.example');
  const server = createServer({ key, cert }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const script = spawn(join(import.meta.dirname, 'certificates.sh'), [`127.0.0.1:${port}`, 'a.example']);
  const output = (await script.stdout.toArray()).join('');
  const [, seconds] = /not_after_seconds\{name="a.example"\} (\d+)/.exec(output) ?? [];
  const days = (Number(seconds) * 1_000 - Date.now()) / 86_400_000;
  // selfsigned's default.
  expect(days).toBeGreaterThan(360);
  expect(days).toBeLessThan(366);
  if (!spawnSync('promtool', ['--version']).error)
    execFileSync('promtool', ['check', 'metrics'], { input: output });
});
