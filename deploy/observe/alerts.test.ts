import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { testCertificate } from '@longhand/shared/testing/certificate.ts';
import { freePorts } from '@longhand/shared/testing/free-port.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import { mountSmallDisk, noSmallDisk, type SmallDisk } from '@longhand/shared/testing/small-disk.ts';
import { Registry } from 'prom-client';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startTemporaryStack, type TemporaryStack } from '../testing/temporary-stack.ts';
import { ask } from '../testing/visits.ts';
import { exportCertificates } from './gauges.ts';
import { type Observing, observeStack } from './observe.ts';

const absent = ['prometheus', 'promtool'].some((name) => spawnSync(name, ['--version']).error);
/** It takes a minute and a half. rules.test.yml covers every alert in every run. */
const skipped = absent || noSmallDisk() !== undefined || rounds({ short: 0, long: 1 }) === 0;

/** The windows of the rules in a rehearsal: minutes and days become seconds. Thresholds stay. */
const windows: Record<string, string> = {
  '1m': '2s',
  '5m': '4s',
  '10m': '3s',
  '30m': '8s',
  '1h': '12s',
  '6h': '15s',
  '3d': '20s',
};

const shortened = () =>
  readFileSync(join(import.meta.dirname, 'rules.yml'), 'utf8')
    .replace(/\[(\w+)\]/g, (_, window) => `[${windows[window]}]`)
    .replace(/for: (\w+)/g, (_, window) => `for: ${windows[window]}`);

describe.skipIf(skipped)('An alert of the running stack fires by its fault', { timeout: 120_000 }, () => {
  let disk: SmallDisk;
  let stack: TemporaryStack;
  let observing: Observing;
  let load: NodeJS.Timeout;
  const faults: AbortController[] = [];

  beforeAll(async () => {
    disk = mountSmallDisk(256);
    stack = await startTemporaryStack({ parent: disk.folder });
    const rules = join(stack.folder, 'rules.yml');
    writeFileSync(rules, shortened());
    const { port } = await freePorts('port');
    observing = await observeStack({ folder: stack.folder, port, rules, interval: 1, onLine() {} });
    load = setInterval(() => ask(stack.urls), 100);
    // So that rates have two samples.
    await sleep(5_000);
  });
  afterEach(async () => {
    for (const fault of faults.splice(0)) fault.abort();
  });
  afterAll(async () => {
    clearInterval(load);
    await observing?.stop();
    await stack?.stop();
    disk?.unmount();
  });

  /** Stops the processes of `name` until the test is over; with `pulse`, for most of the time. */
  function hang(name: string, pulse?: { stop: number; go: number }) {
    const process = stack.processes.find((candidate) => candidate.name === name);
    const signal = (what: NodeJS.Signals) => globalThis.process.kill(-(process?.pid as number), what);
    const fault = new AbortController();
    faults.push(fault);
    fault.signal.addEventListener('abort', () => signal('SIGCONT'));
    signal('SIGSTOP');
    if (pulse) beat();
    async function beat() {
      while (!fault.signal.aborted) {
        signal('SIGSTOP');
        await sleep(pulse?.stop);
        signal('SIGCONT');
        await sleep(pulse?.go);
      }
    }
  }

  /** Resolves once every one of `alerts` fires, and says after how long. */
  async function fires(...alerts: string[]) {
    const begun = performance.now();
    for (const alert of alerts) {
      const firing = async () => {
        const query = `ALERTS{alertname="${alert}",alertstate="firing"}`;
        const answer = await fetch(`${observing.url}/api/v1/query?${new URLSearchParams({ query })}`);
        return ((await answer.json()) as { data: { result: unknown[] } }).data.result.length;
      };
      await expect.poll(firing, { timeout: 60_000, interval: 200 }).toBeGreaterThan(0);
      console.log(`${alert}: ${((performance.now() - begun) / 1_000).toFixed(1)} s`);
    }
  }

  test('no backup', () => fires('BackupOld'));

  test('the cache hangs', async () => {
    hang('expander-cache');
    await fires('CacheDown');
  });

  test('the store hangs, and nothing of tasks is answered', async () => {
    hang('tasks-store');
    await fires('StoreDown', 'AvailabilityBudgetBurns');
  });

  test('the expander hangs', async () => {
    hang('expander');
    await fires('ExpanderDown');
  });

  test('a service does not get the CPU', async () => {
    hang('tasks', { stop: 400, go: 200 });
    await fires('EventLoopSlow');
  });

  test('the proxy does not get the CPU, so hits take longer than 25 ms', async () => {
    hang('proxy', { stop: 200, go: 50 });
    await fires('HitLatencyBudgetBurns');
  });

  test('the disk of the store is nearly full', async () => {
    disk.fill(40 * 1024 * 1024);
    await fires('StoreDiskFull');
    disk.clear();
  });
});

test('the certificate that a server shows is known by the end of its validity', async () => {
  const { key, cert } = await testCertificate('a.example');
  const server = createServer({ key, cert }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const metrics = new Registry();
  exportCertificates(metrics, { host: '127.0.0.1', port, names: ['a.example'] });
  const [, seconds] = /not_after_seconds\{name="a.example"\} (\d+)/.exec(await metrics.metrics()) ?? [];
  const days = (Number(seconds) * 1_000 - Date.now()) / 86_400_000;
  // selfsigned's default.
  expect(days).toBeGreaterThan(360);
  expect(days).toBeLessThan(366);
});
