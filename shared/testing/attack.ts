import { setTimeout as sleep } from 'node:timers/promises';

/** Requests in a measurement, and milliseconds between them. */
const measured = { count: 60, interval: 50 };

/**
 * What an attack costs another client: the median time of its requests during the attack as a multiple of that before, and
 * the statuses of those that failed.
 *
 * @param request sends one of them. @returns its status.
 * @param attack runs until `over` is aborted, and calls `begun` once it has its full effect.
 */
export async function costOfAttack(
  request: () => Promise<number>,
  attack: (over: AbortSignal, begun: () => void) => Promise<unknown>,
): Promise<{ ratio: number; failed: number[] }> {
  const over = new AbortController();
  const begun = Promise.withResolvers<void>();
  // The first ones compile the service's code.
  await measure(request);
  const before = await measure(request);
  const attacking = attack(over.signal, begun.resolve);
  await Promise.race([begun.promise, attacking]);
  const during = await measure(request);
  over.abort();
  await attacking;
  return { ratio: during.median / before.median, failed: [...before.failed, ...during.failed] };
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
