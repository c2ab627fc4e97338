import type { Sample } from '../samples.ts';
import { ascending, mean } from '../statistics.ts';

/** The requests of one kind, of which the run was made. */
export interface Latencies {
  /** `GET /`, `POST /task`, `hit`, … or `control`. */
  name: string;
  /** Milliseconds, ascending. */
  sorted: number[];
  /** Average milliseconds by part; empty where responses have no Server-Timing. */
  parts: { name: string; milliseconds: number }[];
}

/** What a script needs around its load. */
const aside = new Set(['setup', 'list', 'teardown']);

/** The parts of a request's time, in the order of its way. */
export const partNames = ['client', 'proxy', 'application', 'redis', 'target'] as const;

/** The latencies of a run by the name of the request; the control comes last. */
export function latenciesByName(samples: readonly Sample[]): Latencies[] {
  const groups = Map.groupBy(
    samples.filter(({ tags }) => isLoad(tags)),
    ({ tags }) => tags.name ?? '',
  );
  return [...groups]
    .map(([name, group]) => {
      const values = (metric: string) => group.filter((s) => s.metric === metric).map(({ value }) => value);
      const parts = partNames.map((part) => ({ name: part, milliseconds: mean(values(`time_${part}`)) }));
      const known = parts.filter(({ milliseconds }) => !Number.isNaN(milliseconds));
      return { name, sorted: ascending(values('http_req_duration')), parts: known };
    })
    .filter(({ sorted }) => sorted.length > 0)
    .sort(
      (a, b) =>
        Number(a.name === 'control') - Number(b.name === 'control') || b.sorted.length - a.sorted.length,
    );
}

/** Whether a request is part of the load, and its connection was open. */
export const isLoad = (tags: Record<string, string>) =>
  !aside.has(tags.name ?? '') && tags.phase !== 'warm-up';
