import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { testCertificate } from '@longhand/shared/testing/certificate.ts';
import { freePort } from '@longhand/shared/testing/free-port.ts';
import { listening } from '@longhand/shared/testing/listening.ts';
import { testFolder, textFile } from '@longhand/shared/testing/text-file.ts';
import { describeUnless } from '@longhand/shared/testing/unless.ts';
import { expect, onTestFinished, test } from 'vitest';
import { startTemporaryProxy } from '../testing/temporary-proxy.ts';

const missing = spawnSync('mtail', ['--version']).error !== undefined && 'needs mtail';
const options = [`--progs=${join(import.meta.dirname, 'mtail')}`, '--emit_prog_label=false'];

/** A request in nginx's log. */
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
  // nginx always writes three decimal places.
  JSON.stringify({ ...fields, ...change }).replace(/"seconds":([\d.]+)/, (_, seconds) => {
    return `"seconds":${Number(seconds).toFixed(3)}`;
  });

/** Returns the nonzero `name` series that mtail exports for these lines. */
function metricsOf(lines: readonly string[], name: string): string[] {
  const log = textFile(lines.map((text) => `${text}\n`).join(''));
  const own = ['--one_shot', '--one_shot_format=prometheus', `--logs=${log}`, `--log_dir=${testFolder()}`];
  const { stdout } = spawnSync('mtail', [...options, ...own], { encoding: 'utf8' });
  return stdout.split('\n').filter((text) => text.startsWith(name) && !text.endsWith(' 0'));
}

/** Log fields of requests that nginx handles without an upstream. */
const own = { upstreamSeconds: '', upstreamHeaderSeconds: '' };
const api = { application: 'expander', path: '/api' };

describeUnless(missing)("The proxy's metrics", () => {
  type Change = Partial<typeof fields>;
  const requests = (labels: string, count: number) => `proxy_requests_total{${labels}} ${count}`;
  const failures = (name: string, count: number) => `proxy_failures_total{application="${name}"} ${count}`;
  test.each<[what: string, lines: (Change | string)[], series: string[]]>([
    [
      'count requests by application, status and source',
      [
        { ...api, status: 429, limit: 'REJECTED', ...own },
        { ...api, cache: 'HIT', ...own },
        { application: '', host: '', path: '', method: '', status: 400, ...own },
        { path: '/","status":999,"seconds":1.0,\\', host: '"a"' },
        ...['', '"', '\u2028', '{}'].map((text) => ({ method: `BREW${text}`, host: text, path: `/${text}` })),
      ],
      [
        requests('application="",cache="",served_by="proxy",status="400"', 1),
        requests('application="expander",cache="",served_by="proxy",status="429"', 1),
        requests('application="expander",cache="HIT",served_by="cache",status="200"', 1),
        requests('application="tasks",cache="",served_by="service",status="200"', 5),
      ],
    ],
    [
      'count 5xx responses as failures, unless a website failed',
      [
        { status: 503 },
        { status: 504, upstreamSeconds: '10.0', upstreamHeaderSeconds: '-' },
        { ...api, status: 502 },
        { ...api, status: 504, cache: 'HIT', ...own },
        { ...api, status: 502, upstreamSeconds: '0.0, 0.0', upstreamHeaderSeconds: '-, -' },
        { ...api, status: 503 },
        { status: 499, ...own },
        { status: 404 },
      ],
      [failures('expander', 2), failures('tasks', 2)],
    ],
    [
      'count expansions from either cache as hits',
      [
        { ...api, cache: 'HIT', ...own },
        { ...api, cache: 'MISS', cacheStatus: 'Longhand; hit' },
        { ...api, cache: 'MISS' },
        {},
      ],
      ['proxy_hit_duration_seconds_count{application="expander"} 2'],
    ],
    [
      'ignore event streams and unrelated log lines',
      [
        {},
        { path: '/tasks/events', seconds: 600 },
        'nginx: [warn] something',
        '{"service":"proxy","msg',
        '{"service":"tasks","msg":"request"}',
      ],
      ['proxy_request_duration_seconds_sum{application="tasks"} 0.002'],
    ],
  ])('%s', (_, lines, series) => {
    const logged = lines.map((entry) => (typeof entry === 'string' ? entry : line(entry)));
    expect(metricsOf(logged, `${/^\w+/.exec(series[0] ?? '')}`).toSorted()).toEqual(series);
  });

  test('are exported from syslog lines in containers', async () => {
    const metrics = await freePort();
    const syslog = await freeUdpPort();
    const own = [`--logs=udp://127.0.0.1:${syslog}`, '--address=127.0.0.1', `--port=${metrics}`];
    const counter = spawn('mtail', [...options, ...own, '--logtostderr'], { stdio: 'ignore' });
    onTestFinished(() => void counter.kill());
    const page = async () => (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
    await expect.poll(() => page().catch(() => '')).toContain('lines_total');
    const log = counterLog().replace('exporters:5514', `127.0.0.1:${syslog}`);
    const { ports, stop } = await startTemporaryProxy({ LONGHAND_API_RATE: '1r/m' }, (text, file) =>
      file.endsWith('http.conf') ? text.replace(/^access_log .*$/m, (own) => `${own}\n${log}`) : text,
    );
    onTestFinished(stop);
    for (let i = 0; i < 3; i += 1) await fetch(`http://127.0.0.1:${ports.expander}/api?u=${i}`);
    await fetch(`http://127.0.0.1:${ports.tasks}/tasks`, { method: 'POST', body: 'x'.repeat(70_000) });
    await fetch(`http://127.0.0.1:${ports.tasks}/${'long'.repeat(2_000)}"`);
    const counts = async () =>
      Object.fromEntries(
        [...(await page()).matchAll(/^proxy_requests_total\{.*status="(\d+)"\} (\d+)/gm)].map(
          ([, status, count]) => [status, count],
        ),
      );
    await expect.poll(counts).toEqual({ 413: '1', 429: '1', 502: expect.any(String) });
  });
});

async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  await new Promise<void>((resolve) => void socket.close(resolve));
  return port;
}

/** Returns the syslog directive that derived.envsh adds if the name `exporters` resolves. */
function counterLog(): string {
  const folder = testFolder();
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

test("certificates.sh prints the expiry time of a server's certificate", async () => {
  const { key, cert } = await testCertificate('a.example');
  const server = createServer({ key, cert });
  const port = await listening(server);
  onTestFinished(() => void server.close());
  const script = spawn(join(import.meta.dirname, 'certificates.sh'), [`127.0.0.1:${port}`, 'a.example']);
  const output = (await script.stdout.toArray()).join('');
  const [, seconds] = /not_after_seconds\{name="a.example"\} (\d+)/.exec(output) ?? [];
  const days = (Number(seconds) * 1_000 - Date.now()) / 86_400_000;
  // Test certificates are valid for a year.
  expect(days).toBeGreaterThan(360);
  expect(days).toBeLessThan(366);
  if (!spawnSync('promtool', ['--version']).error)
    execFileSync('promtool', ['check', 'metrics'], { input: output });
});
