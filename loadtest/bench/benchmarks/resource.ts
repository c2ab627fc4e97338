import { httpCandidate } from '../http-candidate.ts';
import { compare, cpuRatio } from '../measure.ts';
import type { Result } from '../report.ts';
import { startWorker } from '../worker.ts';

export const title = 'Resource routes: the convention against routes by hand';

export async function run(): Promise<Result[]> {
  const names = ['by hand', 'convention'];
  const workers = await Promise.all(names.map((name) => startWorker('routes.ts', name)));
  try {
    return [
      await compare({
        title: 'GET /things/42 of seven routes',
        candidates: workers.map(({ url, pid }, i) =>
          httpCandidate({ name: names[i] as string, url: `${url}/things/42`, processes: { service: pid } }),
        ),
        baseline: 'by hand',
        goals: [
          {
            text: 'CPU per request against routes by hand',
            value: cpuRatio('convention', 'by hand'),
            atMost: 1.05,
          },
        ],
      }),
    ];
  } finally {
    await Promise.all(workers.map(({ stop }) => stop()));
  }
}
