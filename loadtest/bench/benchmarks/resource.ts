import { startChild } from '../child.ts';
import { overHttp } from '../http-load.ts';
import { compare } from '../measure.ts';
import type { Result } from '../report.ts';

export const title = 'Resource routes: the convention against routes by hand';

export async function run(): Promise<Result[]> {
  const [byHand, convention] = await Promise.all([
    startChild('routes.ts', 'by hand'),
    startChild('routes.ts', 'convention'),
  ]);
  const contender = (name: string, { url, pid }: typeof byHand) =>
    overHttp({ name, url: `${url}/things/42`, processes: { service: pid } });
  try {
    return [
      await compare({
        title: 'GET /things/42 of seven routes',
        contenders: [contender('by hand', byHand), contender('convention', convention)],
        reference: 'by hand',
        goals: [
          {
            text: 'CPU a request against routes by hand',
            value: (of) =>
              (of('convention').cpu.service?.median ?? 0) / (of('by hand').cpu.service?.median ?? 0),
            atMost: 1.05,
          },
        ],
      }),
    ];
  } finally {
    await Promise.all([byHand.stop(), convention.stop()]);
  }
}
