import { bootstrap, fitLine, type Interval, mean, resample } from '../statistics.ts';
import { openFiles, residentMemory } from './process-usage.ts';

/** What a process holds; a leak makes it grow. */
export interface Holdings {
  memory: number;
  files: number;
  sockets: number;
}

export interface HoldingsSample extends Holdings {
  process: string;
  /** Seconds since the start. */
  at: number;
}

/** How a process changed over the judged part of a run. */
export interface Growth {
  process: string;
  what: keyof Holdings;
  mean: number;
  /** From the beginning of the judged part to its end, as the slope says. */
  change: number;
  interval: Interval;
  /** What it may grow by. */
  limit: number;
  met: boolean;
}

/** Growth below this is no leak, whatever the share: some memory, a pool of connections (nginx keeps 64). */
const smallest: Holdings = { memory: 4 * 2 ** 20, files: 64, sockets: 64 };

/** Seconds; in a shorter run everything still grows. */
const shortest = 60;

/** Reads what each process holds, every `milliseconds`. */
export function watchHoldings(processes: Record<string, () => number | undefined>, milliseconds: number) {
  const samples: HoldingsSample[] = [];
  const started = performance.now();
  const look = () => {
    const at = (performance.now() - started) / 1_000;
    for (const [process, pid] of Object.entries(processes)) {
      const id = pid();
      try {
        if (id !== undefined) samples.push({ process, at, memory: residentMemory(id), ...openFiles(id) });
      } catch {
        // It has exited meanwhile; its successor has another id.
      }
    }
  };
  look();
  const timer = setInterval(look, milliseconds).unref();
  return {
    stop() {
      clearInterval(timer);
      return samples;
    },
  };
}

/**
 * Judges by the slope of each series, without its first quarter, in which caches fill. A process leaks when even the
 * lower end of the slope's interval is above the limit. A run that is too short is not judged.
 *
 * @param limit percent of the mean.
 */
export function judgeGrowth(samples: readonly HoldingsSample[], limit: number): Growth[] {
  const names = [...new Set(samples.map(({ process }) => process))];
  return names.flatMap((process) => {
    const all = samples.filter((sample) => sample.process === process);
    const judged = all.slice(Math.ceil(all.length / 4));
    if ((judged.at(-1)?.at ?? 0) - (judged[0]?.at ?? 0) < shortest) return [];
    return (['memory', 'files', 'sockets'] as const).map((what) => {
      const points = judged.map((sample): [number, number] => [sample.at, sample[what]]);
      const average = mean(points.map(([, y]) => y));
      const allowed = Math.max((limit / 100) * average, smallest[what]);
      const { change, interval } = changeOver(points);
      return {
        process,
        what,
        mean: average,
        change,
        interval,
        limit: allowed,
        met: !(interval.low > allowed),
      };
    });
  });
}

/** Samples that resemble each other, because they follow one another, are drawn together. */
const blockLength = 5;

/** What the line through the points rises by from the first to the last, with the interval of 95 %. */
function changeOver(points: readonly [x: number, y: number][]): { change: number; interval: Interval } {
  const { slope, start } = fitLine(points);
  const span = (points.at(-1)?.[0] ?? 0) - (points[0]?.[0] ?? 0);
  const residuals = points.map(([x, y]) => y - (start + slope * x));
  const blocks = Array.from({ length: Math.ceil(residuals.length / blockLength) }, (_, i) =>
    residuals.slice(i * blockLength, (i + 1) * blockLength),
  );
  const [interval] = bootstrap(0.95, (random) => {
    const drawn = resample(blocks, random).flat();
    const again = points.map(([x], i): [number, number] => [
      x,
      start + slope * x + (drawn[i % drawn.length] ?? 0),
    ]);
    return [fitLine(again).slope * span];
  });
  return { change: slope * span, interval: interval as Interval };
}
