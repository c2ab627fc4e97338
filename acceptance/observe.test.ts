import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { observeStack } from '@longhand/deploy/observe/observe.ts';
import { startTemporaryStack, type TemporaryStack } from '@longhand/deploy/testing/temporary-stack.ts';
import { runScript } from '@longhand/loadtest/k6.ts';
import { freePorts } from '@longhand/shared/testing/free-port.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import { testFolder } from '@longhand/shared/testing/text-file.ts';
import { describeUnless, testUnless } from '@longhand/shared/testing/unless.ts';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

const programs = ['prometheus', 'prometheus-node-exporter', 'mtail'];
const missing = programs.filter((name) => spawnSync(name, ['--version']).error);

/** Whether k6 writes its metrics to Prometheus. */
const withK6 = rounds({ short: 0, long: 1 }) === 1 && !spawnSync('k6', ['version']).error;

const read = (file: string) => readFileSync(join(import.meta.dirname, '../deploy/observe', file), 'utf8');

describeUnless(missing.length > 0 && `needs ${missing.join(', ')}`)('A native stack with monitoring', () => {
  let stack: TemporaryStack;
  let observing: Awaited<ReturnType<typeof observeStack>>;

  const query = async (expression: string) => {
    const parameters = new URLSearchParams({ query: expression });
    const response = await fetch(`${observing.url}/api/v1/query?${parameters}`);
    const { data, error } = (await response.json()) as { data: { result: unknown[] }; error?: string };
    if (error) throw new Error(`${expression}: ${error}`);
    return data.result;
  };
  const expectSeries = async (name: string, series: string) => {
    const result = async () => [name, series, (await query(series)).length > 0];
    await expect.poll(result, { timeout: 20_000, interval: 250 }).toEqual([name, series, true]);
  };
  const expectPanels = async (dashboard: string) => {
    const { panels } = JSON.parse(read(`dashboards/${dashboard}`));
    for (const { title, targets = [] } of panels)
      for (const { expr } of targets)
        await expectSeries(title, expr.replaceAll('$__rate_interval', '10s').replaceAll('$testid', '.*'));
  };

  beforeAll(async () => {
    stack = await startTemporaryStack();
    const { folder } = stack;
    // Link a second socket to each service to imitate another replica.
    for (const name of ['expander', 'tasks'])
      symlinkSync(`${name}-ops.sock`, join(folder, 'run', `${name}-2-ops.sock`));
    const { port } = await freePorts('port');
    observing = await observeStack({ folder, port, interval: 1, remoteWrite: withK6, onLine() {} });
  });
  afterAll(async () => {
    await observing?.stop();
    await stack?.stop();
  });

  test('Prometheus accepts remote writes only if they are enabled', async () => {
    const { status } = await fetch(`${observing.url}/api/v1/write`, { method: 'POST', body: 'no metrics' });
    expect(status).toBe(withK6 ? 400 : 404);
  });

  test('every panel and every alert rule has data under load', async () => {
    await expect.poll(async () => (await query('up == 1')).length, { timeout: 20_000 }).toBe(6);
    const load = setInterval(() => visit(stack.urls), 200);
    onTestFinished(() => clearInterval(load));
    await expectPanels('service.json');
    // The native stack has no certificates.
    const names = /\b(?:proxy|longhand(?!_certificate)|node|nodejs)_\w+(?:\{[^}]*\})?|\bup\{[^}]*\}/g;
    const series = new Set(read('rules.yaml').match(names));
    expect(series.size).toBeGreaterThan(10);
    for (const each of series) await expectSeries('rules.yaml', each);
  });

  testUnless(!withK6 && 'runs in make test-long, with k6')(
    'every load run panel has data while k6 writes metrics',
    async () => {
      const running = runScript({
        script: 'tasks',
        out: testFolder(),
        variables: {
          TASKS_URL: stack.urls.tasks,
          LOAD_DURATION: '30',
          LOAD_LISTED: '10',
          K6_PROMETHEUS_RW_SERVER_URL: `${observing.url}/api/v1/write`,
          K6_PROMETHEUS_RW_TREND_STATS: 'med,p(95),p(99),p(99.9),max',
          K6_PROMETHEUS_RW_PUSH_INTERVAL: '1s',
        },
        args: ['--tag', 'testid=a-run', '--out', 'experimental-prometheus-rw'],
        quiet: true,
      });
      await expectPanels('load-run.json');
      await running;
    },
  );

  test.each(['expander', 'tasks'] as const)("promtool accepts %s's metrics", (name) => {
    const socket = join(stack.folder, 'run', `${name}-ops.sock`);
    const input = execFileSync('curl', ['-fs', '--unix-socket', socket, 'http://localhost/metrics']);
    execFileSync('promtool', ['check', 'metrics'], { input });
  });
});

/** Sends requests that produce every metric, such as reads, a write and cached expansions. */
async function visit({ expander, tasks }: TemporaryStack['urls']): Promise<void> {
  const json = { Accept: 'application/json', 'Content-Type': 'application/json' };
  const link = `${expander}/api?u=${encodeURIComponent(`http://127.0.0.1:${new URL(tasks).port}/public/x`)}`;
  const stream = new AbortController();
  const requests = [
    fetch(`${tasks}/`),
    fetch(`${tasks}/nowhere`),
    fetch(`${tasks}/tasks`, { method: 'POST', headers: json, body: JSON.stringify({ title: 'a visit' }) }),
    fetch(`${tasks}/tasks/events`, { signal: stream.signal }),
    fetch(link),
    fetch(`${link}?${Math.random()}`),
    fetch(`${expander}/api?u=http://127.0.0.1:1/${Math.random()}`),
    fetch(`${expander}/?u=http://127.0.0.1:1/${Math.random()}`),
  ];
  for (const request of requests) request.then((response) => response.body?.cancel()).catch(() => {});
  await Promise.allSettled(requests);
  stream.abort();
}
