import { openFiles, residentMemory } from './process-usage.ts';

/** What a process holds; a leak makes it grow. */
interface Holding {
  /** Such as `open files of tasks 123`. */
  what: string;
  /** One every `interval` seconds. */
  values: number[];
  /** Less growth is not a leak, whatever the share: some memory, a pool of connections (nginx keeps 64). */
  smallest: number;
}

const kinds = [
  { what: 'MiB of memory', read: (pid: number) => residentMemory(pid) / 2 ** 20, smallest: 4 },
  { what: 'open files', read: openFiles, smallest: 64 },
];

/** Seconds between two looks. */
const interval = 2;
/** Seconds; in a shorter run everything still grows. */
const shortest = 80;

/** Watches what each process holds. The successor of a process that exits is another one. */
export function watchHoldings(processes: readonly { name: string; pid: number | undefined }[]) {
  const holdings = new Map<string, Holding>();
  const look = () => {
    for (const { name, pid } of processes) {
      for (const { what: kind, read, smallest } of kinds) {
        const what = `${kind} of ${name} ${pid}`;
        const holding = holdings.get(what) ?? { what, values: [], smallest };
        try {
          if (pid !== undefined) holding.values.push(read(pid));
          holdings.set(what, holding);
        } catch {
          // It has just exited.
        }
      }
    }
  };
  look();
  const timer = setInterval(look, interval * 1_000).unref();
  return {
    stop() {
      clearInterval(timer);
      return [...holdings.values()];
    },
  };
}

/**
 * The leaks. Compares the last quarter of a process's run with the second; caches fill in the first. It compares
 * medians, because garbage collection makes memory go up and down. It does not judge a short run.
 *
 * @param limit percent of the second quarter's median.
 */
export function leaks(holdings: readonly Holding[], limit: number): string[] {
  return holdings.flatMap(({ what, values, smallest }) => {
    if (values.length <= shortest / interval) return [];
    const quarter = Math.floor(values.length / 4);
    const before = median(values.slice(quarter, 2 * quarter));
    const value = median(values.slice(-quarter));
    const most = before + Math.max((limit / 100) * before, smallest);
    return value > most ? [`${what}: ${value.toFixed(1)}, more than ${most.toFixed(1)}`] : [];
  });
}

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
