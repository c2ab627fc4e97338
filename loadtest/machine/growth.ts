import { openFiles, residentMemory } from './process-usage.ts';

/** What a process holds; a leak makes it grow. */
export interface HoldingsSample {
  process: string;
  /** Seconds since the start. */
  at: number;
  memory: number;
  files: number;
  sockets: number;
}

const kinds = ['memory', 'files', 'sockets'] as const;

/** How a process changed over the judged part of a run. */
export interface Growth {
  process: string;
  what: (typeof kinds)[number];
  /** The median of the second quarter of the run. */
  before: number;
  /** The median of the last quarter. */
  after: number;
  /** What it may grow by. */
  limit: number;
  met: boolean;
}

/** Growth below this is not a leak, whatever the share: some memory, a pool of connections (nginx keeps 64). */
const smallest = { memory: 4 * 2 ** 20, files: 64, sockets: 64 };

/** Seconds; in a shorter run everything still grows. */
const shortest = 80;

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
 * Compares the last quarter of a run with the second one; in the first, caches fill. Medians, because a garbage
 * collector makes memory go up and down. A run that is too short is not judged.
 *
 * @param limit percent of the second quarter's median.
 */
export function judgeGrowth(samples: readonly HoldingsSample[], limit: number): Growth[] {
  return [...Map.groupBy(samples, ({ process }) => process)].flatMap(([process, all]) => {
    if ((all.at(-1)?.at ?? 0) < shortest) return [];
    const quarter = Math.floor(all.length / 4);
    return kinds.map((what) => {
      const before = median(all.slice(quarter, 2 * quarter).map((sample) => sample[what]));
      const after = median(all.slice(-quarter).map((sample) => sample[what]));
      const allowed = Math.max((limit / 100) * before, smallest[what]);
      return { process, what, before, after, limit: allowed, met: after - before <= allowed };
    });
  });
}

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
