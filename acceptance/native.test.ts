import { randomUUID } from 'node:crypto';
import { startTemporaryStack } from '@longhand/deploy/testing/temporary-stack.ts';
import { startShortener } from '@longhand/loadtest/bench/programs.ts';
import { type Hold, startCrowd } from '@longhand/proxy/testing/crowd.ts';
import { memoryLimit, residentBytes } from '@longhand/proxy/testing/memory.ts';
import { hasEngine } from '@longhand/shared/testing/engine.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import { send } from '@longhand/shared/testing/send.ts';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { acceptanceRules } from './suite/acceptance.ts';
import { browserWalk } from './suite/browser.ts';
import type { TestStack } from './testing/test-stack.ts';

describe('The stack without Docker', async () => {
  const shortener = await startShortener();
  const { urls, processes, accessLog, stop } = await startTemporaryStack();
  afterAll(async () => {
    await stop();
    await shortener[Symbol.asyncDispose]();
  });
  const port = (url: string) => Number(new URL(url).port);
  const stack: TestStack = {
    port: port(urls.proxy),
    expanderPort: port(urls.expander),
    tasksPort: port(urls.tasks),
    shortener: shortener.url,
    proxyLog: async () => (await accessLog()).trim().split('\n'),
    async kill(service) {
      const { pid = 0 } = processes.find(({ name }) => name === service) ?? {};
      process.kill(pid, 'SIGKILL');
    },
  };

  acceptanceRules(() => stack);
  // composed.test.ts runs these browser tests if there is a Docker engine.
  if (!(await hasEngine())) browserWalk(() => stack);

  /** Scales a number of connections down to 1/40 in short runs. */
  const size = (long: number) => rounds({ short: long / 40, long });
  /** Number of client addresses. Each address may open 200 event streams. */
  const addresses = rounds({ short: 1, long: 5 });

  test('a flood of connections does not delay other clients or exceed memory limits', {
    timeout: 600_000,
  }, async () => {
    const { tasksPort, port } = stack;
    await fillList(tasksPort, rounds({ short: 1_000, long: 5_000 }));
    await visit(stack, rounds({ short: 20, long: 50 }));
    const quiet = await visit(stack, rounds({ short: 40, long: 300 }));

    const hold = (kind: Hold['kind'], count: number, n: number, more: Partial<Hold> = {}) => {
      const crowd = startCrowd({ kind, count, port: tasksPort, from: `127.0.0.${2 + n}`, ...more });
      onTestFinished(() => crowd.stop());
      return crowd;
    };
    const streams = Array.from({ length: addresses }, (_, n) => hold('stream', size(1_000) / addresses, n));
    const crowds = [
      ...streams,
      hold('reader', size(200), 0, { path: '/tasks/export?format=json' }),
      hold('idle', size(10_000), 1, { port }),
      hold('idle', size(10_000), 2, { port }),
    ];
    await Promise.all(crowds.map((crowd) => crowd.reached()));
    // These connections time out after 5 s and reopen a second later.
    const unfinished = hold('unfinished', size(3_000), 3, { bytes: 31_000 });
    await expect.poll(() => unfinished.held().opened, { timeout: 120_000 }).toBeGreaterThan(size(3_000));

    hold('refused', size(3_000), 4, { path: '/task' });

    const flooded = await visit(stack, rounds({ short: 40, long: 2_000 }));
    expect(flooded.failures).toEqual([]);
    // Short runs allow more latency, because other tests run at the same time.
    expect(flooded.p99).toBeLessThan(quiet.p99 + rounds({ short: 2_000, long: 50 }));
    for (const { name, pid = 0 } of processes)
      expect(await residentBytes(pid), name).toBeLessThan(0.8 * (await memoryLimit(name)));
  });
});

/** Sends requests to both applications in turn. Returns the p99 latency (ms) and the failures. */
async function visit({ tasksPort, expanderPort, shortener }: TestStack, count: number) {
  const milliseconds: number[] = [];
  const failures: string[] = [];
  for (let i = 0; i < count; i += 1) {
    const [port, path] =
      i % 2 === 0 ? [tasksPort, '/'] : [expanderPort, `/api?u=${shortener}/chain/1?id=${randomUUID()}`];
    const started = performance.now();
    const status = await send(port, path).then(({ status }) => status, String);
    milliseconds.push(performance.now() - started);
    if (status !== 200) failures.push(`${path}: ${status}`);
  }
  milliseconds.sort((a, b) => a - b);
  return { p99: milliseconds[Math.ceil(count * 0.99) - 1] ?? Number.NaN, failures };
}

/** Imports tasks with long titles, because the slow readers need a large export. */
async function fillList(port: number, tasks: number): Promise<void> {
  const body = Array.from({ length: tasks }, (_, i) => `- [ ] ${i} ${'x'.repeat(180)}`).join('\n');
  const headers = { 'Content-Type': 'text/plain', 'Sec-Fetch-Site': 'same-origin' };
  const { status } = await send(port, '/tasks/import', { method: 'POST', headers, body });
  expect(status).toBe(200);
}
