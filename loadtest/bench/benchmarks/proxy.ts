import { httpCandidate } from '../http-candidate.ts';
import { compare, cpuRatio } from '../measure.ts';
import { startNginx } from '../nginx.ts';
import type { Result } from '../report.ts';
import { startService } from '../services.ts';

export const title = 'Proxy: what its configuration is worth';

export async function run(): Promise<Result[]> {
  const expander = await startService('expander');
  const [ours, withoutKeepAlive] = await Promise.all([
    startNginx(expander.url),
    startNginx(expander.url, removeKeepAlive),
  ]);
  const candidate = (name: string, url: string, processes: Record<string, number>) =>
    httpCandidate({ name, url: `${url}/api`, processes: { expander: expander.pid, ...processes } });
  try {
    return [
      await compare({
        title: 'The shortest response of the expander (/api without a URL)',
        candidates: [
          candidate('direct', expander.url, {}),
          candidate('through ours', ours.url, { nginx: ours.pid }),
          candidate('without keep-alive', withoutKeepAlive.url, { nginx: withoutKeepAlive.pid }),
        ],
        baseline: 'direct',
        goals: [
          {
            text: 'total CPU through ours against direct',
            value: cpuRatio('through ours', 'direct'),
            atMost: 2.4,
          },
        ],
      }),
    ];
  } finally {
    await Promise.all([ours, withoutKeepAlive, expander].map(({ stop }) => stop()));
  }
}

/** Removes what keeps nginx's connections to the services open. */
const removeKeepAlive = (configuration: string) =>
  configuration
    .replace(/^\s+keepalive \d+;\n(\s+keepalive_\w+ \w+;\n)*/gm, '')
    .replace(/^proxy_http_version .*\n|^proxy_set_header Connection .*\n/gm, '');
