import http from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

/** How a client's requests went: milliseconds of the median, and the statuses of those that failed (0 without one). */
interface Service {
  median: number;
  failed: number[];
}

/** Requests in a measurement, and milliseconds between them. */
const measured = { count: 60, interval: 50 };

/**
 * What an attack costs another client: the median time of its cold links during the attack as a multiple of that before,
 * and the statuses of those that failed.
 *
 * @param api where the expander answers.
 * @param coldLink a link that no cache knows.
 * @param attack runs until `signal` is aborted, and calls `begun` once it has its full effect.
 */
export async function costOfAttack(
  api: string,
  coldLink: () => string,
  attack: (signal: AbortSignal, begun: () => void) => Promise<unknown>,
): Promise<{ ratio: number; failed: number[] }> {
  const over = new AbortController();
  const begun = Promise.withResolvers<void>();
  // The first ones compile the expander's code.
  await measure(api, coldLink);
  const before = await measure(api, coldLink);
  const attacking = attack(over.signal, begun.resolve);
  await Promise.race([begun.promise, attacking]);
  const during = await measure(api, coldLink);
  over.abort();
  await attacking;
  return { ratio: during.median / before.median, failed: [...before.failed, ...during.failed] };
}

/** Expands links of one client at a constant rate, however long each takes. */
async function measure(api: string, coldLink: () => string): Promise<Service> {
  const sent: Promise<{ status: number; milliseconds: number }>[] = [];
  for (; sent.length < measured.count; await pause(measured.interval)) {
    const start = performance.now();
    const status = expand(api, coldLink(), '192.0.2.2');
    sent.push(status.then((status) => ({ status, milliseconds: performance.now() - start })));
  }
  const answers = await Promise.all(sent);
  const times = answers.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
  const failed = answers.map(({ status }) => status).filter((status) => status !== 200);
  return { median: times[times.length >> 1] ?? Number.NaN, failed };
}

/** Asks for the expansion of `url`. @returns the status; 0 if there is none, or if `signal` was aborted before. */
export function expand(api: string, url: string, client: string, signal?: AbortSignal): Promise<number> {
  const headers = { 'X-Forwarded-For': client };
  return new Promise((resolve) =>
    http
      .get(`${api}api?u=${encodeURIComponent(url)}`, { headers, signal }, (response) => {
        response.resume().on('close', () => resolve(response.statusCode ?? 0));
      })
      .on('error', () => resolve(0)),
  );
}
