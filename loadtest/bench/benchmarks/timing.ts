import { httpCandidate } from '../http-candidate.ts';
import { compare, cpuRatio } from '../measure.ts';
import { startNginx } from '../nginx.ts';
import type { Result } from '../report.ts';
import { startService } from '../services.ts';
import { startWorker } from '../worker.ts';

export const title = 'Server-Timing: what it costs';

/** The fastest routes with the header and without. */
export async function run(): Promise<Result[]> {
  const shortener = await startWorker('shortener.ts');
  const [off, on] = await Promise.all([
    startService('expander'),
    startService('expander', undefined, { LONGHAND_SERVER_TIMING: 'on' }),
  ]);
  const [proxyOff, proxyOn] = await Promise.all([
    startNginx({ expander: off.url }),
    startNginx({ expander: on.url }, undefined, { LONGHAND_SERVER_TIMING_VALUE: '$local_server_timing' }),
  ]);
  const hot = `/api?u=${encodeURIComponent(`${shortener.url}/chain/2?hot`)}`;
  const routes = { 'hot link from the edge': hot, '/api without a URL': '/api' };
  try {
    return [
      await compare({
        title: 'The fastest route through the proxy, and the fastest through both',
        candidates: Object.entries(routes).flatMap(([name, path]) => [
          httpCandidate({
            name: `${name}, off`,
            url: proxyOff.urls.expander + path,
            processes: { nginx: proxyOff.pid, service: off.pid },
          }),
          httpCandidate({
            name: `${name}, on`,
            url: proxyOn.urls.expander + path,
            processes: { nginx: proxyOn.pid, service: on.pid },
          }),
        ]),
        goals: Object.keys(routes).map((name) => ({
          text: `${name}: CPU with it against without`,
          value: cpuRatio(`${name}, on`, `${name}, off`),
          atMost: 1.03,
        })),
        // The machine itself differs by more than the goal from one second to the next.
        rounds: { count: 15, seconds: 1 },
      }),
    ];
  } finally {
    await Promise.all([proxyOff, proxyOn, off, on, shortener].map(({ stop }) => stop()));
  }
}
