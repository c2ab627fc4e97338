import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';

/** Requests to each service per measurement, and milliseconds between them. */
const measured = { count: 60, interval: 50 };

/** SECURITY.md promises that an attack slows other clients by at most this factor. */
const maxRatio = 5;

/** Max number of measurements. Other processes may disturb some measurements. */
const maxMeasurements = 5;

/**
 * Expects that requests of another client succeed during an attack and are hardly slower. Divides the median response time of
 * the attacked service by that of the quiet service. Repeats the measurement while the ratio is too high.
 *
 * @param request sends a request to the service at `url` and returns its status
 * @param attack runs until `over` aborts, and calls `begun` once it is in full effect
 */
export async function expectSmallDelay(
  { attacked, quiet }: Record<'attacked' | 'quiet', { url: string; pid: number }>,
  request: (url: string) => Promise<number>,
  attack: (over: AbortSignal, begun: () => void) => Promise<unknown>,
): Promise<void> {
  const measureBoth = () =>
    Promise.all([attacked, quiet].map(({ url, pid }) => measure(() => request(url), pid)));
  // Warm up, so that V8 has compiled the code.
  await measureBoth();
  const over = new AbortController();
  const begun = Promise.withResolvers<void>();
  const attacking = attack(over.signal, begun.resolve);
  await Promise.race([begun.promise, attacking]);
  let ratio = Number.POSITIVE_INFINITY;
  const failed: number[] = [];
  for (let i = 0; i < maxMeasurements && ratio >= maxRatio; i += 1) {
    const [during, without] = await measureBoth();
    ratio = Math.min(ratio, (during?.median ?? Number.NaN) / (without?.median ?? Number.NaN));
    failed.push(...(during?.failed ?? []));
  }
  over.abort();
  await attacking;
  expect(failed).toEqual([]);
  expect(ratio).toBeGreaterThan(0);
  expect(ratio).toBeLessThan(maxRatio);
}

/** Sends requests to a process at a constant rate, however slow the responses are. */
async function measure(request: () => Promise<number>, pid: number) {
  const sent: Promise<{ status: number; milliseconds: number }>[] = [];
  for (; sent.length < measured.count; await sleep(measured.interval)) {
    const start = clockOf(pid);
    sent.push(request().then((status) => ({ status, milliseconds: clockOf(pid) - start })));
  }
  const responses = await Promise.all(sent);
  const times = responses.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
  const failed = responses.map(({ status }) => status).filter((status) => status !== 200);
  return { median: times[times.length >> 1] ?? Number.NaN, failed };
}

/**
 * Returns the time in milliseconds, without the time that the process has waited for a CPU. Other programs delay a busy process
 * more than an idle process.
 */
function clockOf(pid: number): number {
  const [, waited] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ');
  return performance.now() - Number(waited) / 1e6;
}
