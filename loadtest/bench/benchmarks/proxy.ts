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
/** The parts of the configuration that a row leaves out. */
const leftOut = {
  'as it is': [],
  'without open_file_cache': [/^open_file_cache\w* .*\n/gm],
  'without the edge cache': [cache],
  'without keep-alive either': [cache, ...keepAlive],
};

/** A hot link with the configuration as it is, and without its parts. */
export async function run(): Promise<Result[]> {
  await using shortener = await startWorker('shortener.ts');
  await using expander = await startService('expander');
  await using running = new AsyncDisposableStack();
  const path = `/api?u=${encodeURIComponent(`${shortener.url}/chain/2?hot`)}`;
  const services = { expander: expander.pid, redis: expander.redis.pid };
  const candidates = [httpCandidate({ name: 'directly', url: expander.url + path, processes: services })];
  for (const [name, parts] of Object.entries(leftOut)) {
    const { urls, pid } = running.use(await startNginx({ expander: expander.url }, without(...parts)));
    const processes = { nginx: pid, ...services };
    candidates.push(httpCandidate({ name, url: urls.expander + path, processes }));
  }
  const result = await compare({
    title: 'A hot link (/api, two redirects)',
    candidates,
    baseline: 'directly',
    goals: [
      { text: 'CPU against the service directly', value: cpuRatio('as it is', 'directly'), atMost: 0.9 },
    ],
  });
  return [result];
}
