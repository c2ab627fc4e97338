import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '@longhand/shared/testing/free-port.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import { mountSmallDisk, noSmallDisk, type SmallDisk } from '@longhand/shared/testing/small-disk.ts';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { shortenedRules } from '../testing/shortened-rules.ts';
import { startTemporaryStack, type TemporaryStack } from '../testing/temporary-stack.ts';
import { ask } from '../testing/visits.ts';
import { type Observing, observeStack, programs } from './observe.ts';

const absent = programs.some((name) => spawnSync(name, ['--version']).error);
/** It takes a minute and a half. rules.test.yml covers every alert in every run. */
const skipped = absent || noSmallDisk() !== undefined || rounds({ short: 0, long: 1 }) === 0;

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
    writeFileSync(rules, shortenedRules());
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
  function hang(name: string, pulse = { stop: 200, go: 0 }) {
    const process = stack.processes.find((candidate) => candidate.name === name);
    const signal = (what: NodeJS.Signals) => {
      try {
        globalThis.process.kill(-(process?.pid as number), what);
      } catch {
        // It was killed, and the next one has not started.
      }
    };
    const fault = new AbortController();
    faults.push(fault);
    fault.signal.addEventListener('abort', () => signal('SIGCONT'));
    // Again and again: what hangs for long is killed and starts anew.
    (async () => {
      while (!fault.signal.aborted) {
        signal('SIGSTOP');
        await sleep(pulse.stop);
        if (pulse.go > 0) signal('SIGCONT');
        await sleep(pulse.go);
      }
    })();
  }

  const isFiring = async (alert: string) => {
    const query = `ALERTS{alertname="${alert}",alertstate="firing"}`;
    const answer = await fetch(`${observing.url}/api/v1/query?${new URLSearchParams({ query })}`);
    return ((await answer.json()) as { data: { result: unknown[] } }).data.result.length > 0;
  };
  const until = (alert: string, fires: boolean) =>
    expect.poll(() => isFiring(alert), { timeout: 60_000, interval: 200 }).toBe(fires);

  /** Causes a fault once none of `alerts` fires, waits until every one of them does, and says after how long. */
  async function causes(cause: () => void, ...alerts: string[]) {
    // The last fault may burn the same budget for as long as its windows reach back.
    for (const alert of alerts) await until(alert, false);
    const begun = performance.now();
    cause();
    for (const alert of alerts) {
      await until(alert, true);
      console.log(`${alert}: ${((performance.now() - begun) / 1_000).toFixed(1)} s`);
    }
  }

  test('no backup', () => until('BackupOld', true));

  test('the cache hangs', () => causes(() => hang('expander-cache'), 'CacheDown'));

  test('the store hangs, and nothing of tasks is answered', () =>
    causes(() => hang('tasks-store'), 'StoreDown', 'AvailabilityBudgetBurns'));

  test('the expander hangs, whenever it starts again', () => causes(() => hang('expander'), 'ExpanderDown'));

  test('a service does not get the CPU', () =>
    causes(() => hang('tasks', { stop: 400, go: 200 }), 'EventLoopSlow'));

  test('the expander does not get the CPU, so hits take longer than 25 ms', async () => {
    const { expander, tasks } = stack.urls;
    const link = `${expander}/api?u=${encodeURIComponent(`http://127.0.0.1:${new URL(tasks).port}/public/x`)}`;
    // nginx does not know these addresses, and the expander the link that they name.
    const hits = setInterval(() => {
      fetch(`${link}&${Math.random()}`).then(
        (answer) => answer.body?.cancel(),
        () => {},
      );
    }, 20);
    onTestFinished(() => clearInterval(hits));
    await causes(() => hang('expander', { stop: 200, go: 50 }), 'HitLatencyBudgetBurns');
  });

  test('the disk of the store is nearly full', async () => {
    await causes(() => disk.fill(40 * 1024 * 1024), 'StoreDiskFull');
    disk.clear();
  });
});
