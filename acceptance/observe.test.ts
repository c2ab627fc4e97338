import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Observing, observeStack } from '@longhand/deploy/observe/observe.ts';
import { startTemporaryStack, type TemporaryStack } from '@longhand/deploy/testing/temporary-stack.ts';
import { freePorts } from '@longhand/shared/testing/free-port.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask, expectPanels, expectRuled } from './testing/visits.ts';

const programs = ['prometheus', 'prometheus-redis-exporter', 'prometheus-node-exporter', 'mtail'];
const missing = programs.some((name) => spawnSync(name, ['--version']).error);

/** Whether k6 writes its figures to Prometheus here. */
const withK6 = rounds({ short: 0, long: 1 }) === 1 && !spawnSync('k6', ['version']).error;

describe.skipIf(missing)('A native stack that is observed', { timeout: 60_000 }, () => {
  let stack: TemporaryStack;
  let observing: Observing;
  const output: string[] = [];

  const query = async (expression: string) => {
    const parameters = new URLSearchParams({ query: expression });
    const answer = await fetch(`${observing.url}/api/v1/query?${parameters}`);
    const { data, error } = (await answer.json()) as { data: { result: unknown[] }; error?: string };
    if (error) throw new Error(`${expression}: ${error}`);
    return data.result;
  };

  beforeAll(async () => {
    stack = await startTemporaryStack();
    const { folder } = stack;
    // Another replica is another socket.
    for (const name of ['expander', 'tasks'])
      symlinkSync(`${name}-ops.sock`, join(folder, 'run', `${name}-2-ops.sock`));
    const { port } = await freePorts('port');
    const onLine = (_: string, line: string) => output.push(line);
    observing = await observeStack({ folder, port, interval: 1, remoteWrite: withK6, onLine });
  });
  afterAll(async () => {
    await observing?.stop();
    await stack?.stop();
  });

  test('no page in a browser can write metrics, except while k6 may', async () => {
    const { status } = await fetch(`${observing.url}/api/v1/write`, { method: 'POST', body: 'no metrics' });
    expect(status).toBe(withK6 ? 400 : 404);
  });

  test('every replica is found, and under load no panel is empty and no rule without its series', async () => {
    const up = () => query('up == 1');
    await expect.poll(async () => (await up()).length, { timeout: 20_000 }).toBe(8);
    const load = setInterval(() => ask(stack.urls), 200);
    try {
      await expectPanels('service.json', query);
      await expectRuled(query);
    } finally {
      clearInterval(load);
    }
  });

  test.skipIf(!withK6)('no panel of a load run is empty while k6 writes its figures', async () => {
    const script = `import http from 'k6/http';
      export const options = { vus: 2, duration: '30s' };
      export default () => http.get('${stack.urls.tasks}/');`;
    const remoteWrite = {
      K6_PROMETHEUS_RW_SERVER_URL: `${observing.url}/api/v1/write`,
      K6_PROMETHEUS_RW_TREND_STATS: 'med,p(95),p(99),p(99.9),max',
      K6_PROMETHEUS_RW_PUSH_INTERVAL: '1s',
    };
    const options = [
      '--quiet',
      '--no-usage-report',
      '--tag',
      'testid=a-run',
      '-o',
      'experimental-prometheus-rw',
    ];
    const k6 = spawn('k6', ['run', ...options, '-'], {
      env: { ...process.env, ...remoteWrite },
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    k6.stdin.end(script);
    const ended = once(k6, 'exit');
    try {
      await expectPanels('load-run.json', query);
    } finally {
      k6.kill('SIGKILL');
      await ended;
    }
  });

  test.each(['expander', 'tasks'] as const)('promtool accepts the metrics of %s', async (name) => {
    const socketPath = join(stack.folder, 'run', `${name}-ops.sock`);
    const asked = request({ socketPath, path: '/metrics', agent: false }).end();
    const metrics = await new Promise<string>((resolve) =>
      asked.on('response', (answer) => resolve(text(answer))),
    );
    execFileSync('promtool', ['check', 'metrics'], { input: metrics });
  });
});
