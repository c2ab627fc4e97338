import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';

/** Requests to each service per measurement, and milliseconds between them. */
const measured = { count: 60, interval: 50 };

/** SECURITY.md promises that an attack slows other clients by at most this factor. */
const maxRatio = 5;

/** Milliseconds until another client's request counts as failed. nginx would return 502 then. */
export const patience = 9_000;

/** Maximum number of measurements. Other processes may disturb several of them, on a busy machine most. */
const maxMeasurements = 10;

/**
 * Expects that requests of another client succeed during an attack and are hardly slower. Divides the median response time of
 * the attacked service by that of the quiet service. Repeats the measurement while the ratio is too high.
 *
 * @param request sends a request to the service at `url` and returns its status
 * @param attack runs until `over` aborts, and calls `begun` once it is in full effect
 */
export async function expectSmallDelay(
  services: Services,
  request: (url: string) => Promise<number>,
  attack: Attack,
): Promise<void> {
  await measureBoth(services, request);
  expectSmall(await delayDuring(services, request, attack));
}

export type Services = Record<'attacked' | 'quiet', { url: string; pid: number }>;

/** Runs until `over` aborts, and calls `begun` once it is in full effect. */
type Attack = (over: AbortSignal, begun: () => void) => Promise<unknown>;

/** How an attack affects other clients: their median response time relative to that of a quiet service, and failed statuses. */
export interface Delay {
  ratio: number;
  failed: number[];
}

export function expectSmall({ ratio, failed }: Delay): void {
  expect(failed).toEqual([]);
  expect(ratio).toBeGreaterThan(0);
  expect(ratio).toBeLessThan(maxRatio);
}

/** Measures both services. The first measurement warms them up, so that V8 has compiled the code. */
export function measureBoth({ attacked, quiet }: Services, request: (url: string) => Promise<number>) {
  return Promise.all([attacked, quiet].map(({ url, pid }) => measure(() => request(url), pid)));
}

/** Measures the delay of another client during an attack. See `expectSmallDelay`. */
export async function delayDuring(
  services: Services,
  request: (url: string) => Promise<number>,
  attack: Attack,
): Promise<Delay> {
  const over = new AbortController();
  const begun = Promise.withResolvers<void>();
  const attacking = attack(over.signal, begun.resolve);
  await Promise.race([begun.promise, attacking]);
  let ratio = Number.POSITIVE_INFINITY;
  const failed: number[] = [];
  for (let i = 0; i < maxMeasurements && ratio >= maxRatio; i += 1) {
    const [during, without] = await measureBoth(services, request);
    const times = [during, without].map((measured) => measured?.median ?? Number.NaN);
    // The kernel may count a wait late, so a time may even be negative. Measure again then.
    if (times.every((time) => time > 0)) ratio = Math.min(ratio, Number(times[0]) / Number(times[1]));
    failed.push(...(during?.failed ?? []));
  }
  over.abort();
  await attacking;
  return { ratio, failed };
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
