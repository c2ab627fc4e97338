import { httpCandidate } from '../http-candidate.ts';
import { compare, cpuRatio } from '../measure.ts';
import { startNginx } from '../nginx.ts';
import type { Result } from '../report.ts';
import { startService } from '../services.ts';
import { startWorker } from '../worker.ts';

export const title = 'Server-Timing: what it costs';

/** The fastest routes with the header and without. */
export async function run(): Promise<Result[]> {
  await using shortener = await startWorker('shortener.ts');
  await using off = await startService('expander');
  await using on = await startService('expander', undefined, { LONGHAND_SERVER_TIMING: 'on' });
  await using proxyOff = await startNginx({ expander: off.url });
  const value = { LONGHAND_SERVER_TIMING_VALUE: '$local_server_timing' };
  await using proxyOn = await startNginx({ expander: on.url }, undefined, value);
  const hot = `/api?u=${encodeURIComponent(`${shortener.url}/chain/2?hot`)}`;
  const routes = { 'hot link from the edge': hot, '/api without a URL': '/api' };
  const ways = [
    { way: 'off', nginx: proxyOff, service: off },
    { way: 'on', nginx: proxyOn, service: on },
  ];
  const result = await compare({
    title: 'The fastest route through the proxy, and the fastest through both',
    candidates: Object.entries(routes).flatMap(([name, path]) =>
      ways.map(({ way, nginx, service }) =>
        httpCandidate({
          name: `${name}, ${way}`,
          url: nginx.urls.expander + path,
          processes: { nginx: nginx.pid, service: service.pid },
        }),
      ),
    ),
    goals: Object.keys(routes).map((name) => ({
      text: `${name}: CPU with it against without`,
      value: cpuRatio(`${name}, on`, `${name}, off`),
      atMost: 1.03,
    })),
    // The machine itself differs by more than the goal from one second to the next.
    rounds: { count: 15, seconds: 1 },
  });
  return [result];
}
