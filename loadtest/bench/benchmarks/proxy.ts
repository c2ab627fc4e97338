import { httpCandidate } from '../http-candidate.ts';
import { compare, cpuRatio } from '../measure.ts';
import { startNginx, without } from '../nginx.ts';
import type { Result } from '../report.ts';
import { startService } from '../services.ts';
import { startWorker } from '../worker.ts';

export const title = 'Proxy: what its configuration is worth';

const cache = 'proxy_cache answers;';
/** What keeps nginx's connections to the services open. */
const keepAlive = [
  /^\s+keepalive \d+;\n(\s+keepalive_\w+ \w+;\n)*/gm,
  /^proxy_http_version .*\n|^proxy_set_header Connection .*\n/gm,
];

/** A hot link with the configuration as it is, and without its parts. */
export async function run(): Promise<Result[]> {
  const shortener = await startWorker('shortener.ts');
  const expander = await startService('expander');
  const upstream = { expander: expander.url };
  const configurations = {
    'as it is': await startNginx(upstream),
    'without open_file_cache': await startNginx(upstream, without(/^open_file_cache\w* .*\n/gm)),
    'without the edge cache': await startNginx(upstream, without(cache)),
    'without keep-alive either': await startNginx(upstream, without(cache, ...keepAlive)),
  };
  const path = `/api?u=${encodeURIComponent(`${shortener.url}/chain/2?hot`)}`;
  const services = { expander: expander.pid, redis: expander.redis.pid };
  try {
    return [
      await compare({
        title: 'A hot link (/api, two redirects)',
        candidates: [
          httpCandidate({ name: 'directly', url: expander.url + path, processes: services }),
          ...Object.entries(configurations).map(([name, { urls, pid }]) =>
            httpCandidate({ name, url: urls.expander + path, processes: { nginx: pid, ...services } }),
          ),
        ],
        baseline: 'directly',
        goals: [
          { text: 'CPU against the service directly', value: cpuRatio('as it is', 'directly'), atMost: 0.9 },
        ],
      }),
    ];
  } finally {
    const running = [...Object.values(configurations), expander, shortener];
    await Promise.all(running.map(({ stop }) => stop()));
  }
}
