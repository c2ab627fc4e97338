import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import { expect, onTestFinished, test } from 'vitest';
import { startCrowd } from '../testing/crowd.ts';
import type { Hold } from '../testing/hold.ts';
import { memoryLimits } from '../testing/memory.ts';
import { send } from '../testing/send.ts';
import type { TestStack } from '../testing/test-stack.ts';

/** A stack that a crowd can stand before. */
export interface CrowdedStack extends TestStack {
  /** The proxy's address for the crowd. */
  host(): Promise<string>;
  /** Starts the program that holds connections, from the `n`th address of its own. */
  startHold(hold: Hold, n: number): ChildProcess;
  /** Bytes in memory, by service. */
  memory(): Promise<Record<string, number>>;
}

/** A twentieth of the crowd in `make test`. */
const size = (long: number) => rounds({ short: long / 20, long });
/** Addresses that the event streams share: one may have 200. */
const addresses = rounds({ short: 2, long: 5 });

/** The limits hold together: a crowd from a few addresses leaves the stack to everybody else, within its memory. */
export function crowdRules(stack: () => CrowdedStack): void {
  test('a crowd that holds connections leaves both applications to everybody else', {
    timeout: 600_000,
  }, async () => {
    const { tasksPort, port } = stack();
    const host = await stack().host();
    await fillList(tasksPort, 5_000);
    await visit(stack(), 50);
    const quiet = await visit(stack(), rounds({ short: 100, long: 300 }));

    const hold = (kind: Hold['kind'], count: number, n: number, more: Partial<Hold> = {}) => {
      const options: Hold = { kind, count, host, port: tasksPort, ...more };
      const crowd = startCrowd(options, (part) => stack().startHold(part, n));
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
    // Refused after 5 s, and there again a second later.
    const unfinished = hold('unfinished', size(3_000), 3, { bytes: 31_000 });
    await expect.poll(() => unfinished.held().opened, { timeout: 120_000 }).toBeGreaterThan(size(3_000));

    const besieged = await visit(stack(), rounds({ short: 100, long: 2_000 }));
    const used = await stack().memory();
    const limits = await memoryLimits();
    const open = [...crowds, unfinished].map((crowd) => crowd.held().open);
    console.log(JSON.stringify({ quiet, besieged, used, open }));
    expect(besieged.failures).toEqual([]);
    // 50 ms on a machine that does nothing else; the short form runs beside other tests.
    expect(besieged.p99).toBeLessThan(quiet.p99 + rounds({ short: 2_000, long: 50 }));
    for (const [service, bytes] of Object.entries(used)) {
      expect([service, bytes / (limits[service] ?? 0) < 0.8]).toEqual([service, true]);
    }
  });
}

/** Uses both applications, one request after the other, and says how long they took in milliseconds. */
async function visit({ tasksPort, expanderPort, shortener }: TestStack, count: number) {
  const milliseconds: number[] = [];
  const failures: string[] = [];
  for (let i = 0; i < count; i += 1) {
    const [port, path] =
      i % 2 === 0 ? [tasksPort, '/'] : [expanderPort, `/api?u=${shortener}/chain/1?id=${randomUUID()}`];
    const started = performance.now();
    const answer = await send(port, path).catch(String);
    milliseconds.push(performance.now() - started);
    if (typeof answer === 'string' || answer.status !== 200)
      failures.push(`${path}: ${typeof answer === 'string' ? answer : answer.status}`);
  }
  milliseconds.sort((a, b) => a - b);
  const at = (share: number) => milliseconds[Math.ceil(count * share) - 1] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99), max: at(1), failures };
}

/** Something long to read slowly. */
async function fillList(port: number, tasks: number): Promise<void> {
  const body = Array.from({ length: tasks }, (_, i) => `- [ ] ${i} ${'x'.repeat(200)}`).join('\n');
  const headers = { 'Content-Type': 'text/plain', 'Sec-Fetch-Site': 'same-origin' };
  const { status } = await send(port, '/tasks/import', { method: 'POST', headers, body });
  expect(status).toBe(200);
}
