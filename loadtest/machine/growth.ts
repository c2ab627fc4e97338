import { openFiles, residentMemory } from './process-usage.ts';

/** What a process holds; a leak makes it grow. */
export interface HoldingsSample {
  process: string;
  /** Seconds since the start. */
  at: number;
  /** Bytes. */
  memory: number;
  /** Open files, sockets among them. */
  files: number;
}

const kinds = ['memory', 'files'] as const;

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

/** Smaller growth is not a leak, whatever the share: some memory, a pool of connections (nginx keeps 64). */
const smallest = { memory: 4 * 2 ** 20, files: 64 };

/** Seconds; in a shorter run everything still grows. */
const shortest = 80;

/** Reads what each process holds, every `milliseconds`. The successor of a process that exits is another one. */
export function watchHoldings(
  processes: readonly { name: string; pid: number | undefined }[],
  milliseconds: number,
) {
  const samples: HoldingsSample[] = [];
  const started = performance.now();
  const look = () => {
    const at = (performance.now() - started) / 1_000;
    for (const { name, pid } of processes) {
      try {
        if (pid !== undefined)
          samples.push({ process: `${name} ${pid}`, at, memory: residentMemory(pid), files: openFiles(pid) });
      } catch {
        // It has just exited.
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
 * Compares the last quarter of a process's run with the second; caches fill in the first. It compares medians, because
 * garbage collection makes memory go up and down. It does not judge a short run.
 *
 * @param limit percent of the second quarter's median.
 */
export function judgeGrowth(samples: readonly HoldingsSample[], limit: number): Growth[] {
  return [...Map.groupBy(samples, ({ process }) => process)].flatMap(([process, all]) => {
    if ((all.at(-1)?.at ?? 0) - (all[0]?.at ?? 0) < shortest) return [];
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
