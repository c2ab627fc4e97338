import { setTimeout as sleep } from 'node:timers/promises';

/** Requests to each service in a measurement, and milliseconds between them. */
const measured = { count: 60, interval: 50 };

/** SECURITY.md's promise: requests of other clients take at most five times as long. */
const promised = 5;

/** Other work on the machine may slow the attacked service more than the quiet service, but not in every measurement. */
const maxMeasurements = 12;

/**
 * Measures how much an attack slows another client. A measurement is the client's median request time, divided by the median
 * at a `quiet` service at the same time. Returns the first measurement within the promise, or else the best, and the statuses
 * of failed requests.
 *
 * @param request sends a request to the service at `url`, and returns its status.
 * @param attack runs until `over` is aborted, and calls `begun` once it has reached its full effect.
 */
export async function costOfAttack(
  { attacked, quiet }: { attacked: string; quiet: string },
  request: (url: string) => Promise<number>,
  attack: (over: AbortSignal, begun: () => void) => Promise<unknown>,
): Promise<{ ratio: number; failed: number[] }> {
  const measureBoth = () => Promise.all([attacked, quiet].map((url) => measure(() => request(url))));
  // Warm-up: V8 compiles the code.
  await measureBoth();
  const over = new AbortController();
  const begun = Promise.withResolvers<void>();
  const attacking = attack(over.signal, begun.resolve);
  await Promise.race([begun.promise, attacking]);
  let ratio = Number.POSITIVE_INFINITY;
  const failed: number[] = [];
  for (let i = 0; i < maxMeasurements && ratio >= promised; i += 1) {
    const [during, without] = await measureBoth();
    ratio = Math.min(ratio, (during?.median ?? Number.NaN) / (without?.median ?? Number.NaN));
    failed.push(...(during?.failed ?? []));
  }
  over.abort();
  await attacking;
  return { ratio, failed };
}

/** Sends requests at a constant rate, however long each takes. */
async function measure(request: () => Promise<number>): Promise<{ median: number; failed: number[] }> {
  const sent: Promise<{ status: number; milliseconds: number }>[] = [];
  for (; sent.length < measured.count; await sleep(measured.interval)) {
    const start = performance.now();
    sent.push(request().then((status) => ({ status, milliseconds: performance.now() - start })));
  }
  const responses = await Promise.all(sent);
  const times = responses.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
  const failed = responses.map(({ status }) => status).filter((status) => status !== 200);
  return { median: times[times.length >> 1] ?? Number.NaN, failed };
}
