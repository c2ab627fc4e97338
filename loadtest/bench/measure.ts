import { setTimeout as sleep } from 'node:timers/promises';
import { cpuTime } from '../machine/process-usage.ts';
import { table } from '../table.ts';

export interface LoadResult {
  requests: number;
  /** Requests without the expected response. */
  failed: number;
  seconds: number;
}

/** A server, and the load on it. */
export interface Candidate {
  load(seconds: number): Promise<LoadResult>;
  /** The process whose CPU time counts, children included. */
  pid: number;
}

/** Ours, and a plain program that does the same. */
interface Compared<Value> {
  name: string;
  ours: Value;
  plain: Value;
}

export type Pair = Compared<Candidate>;

/** A row of a report: the figures of each round. Less is better. */
export interface Row extends Compared<readonly number[]> {
  /** Other figures. */
  note: string;
}

export interface Report {
  title: string;
  unit: string;
  rows: readonly Row[];
  /** More about what was measured, by name. */
  facts?: Record<string, string>;
}

/** Rounds, and seconds of each. */
export interface Rounds {
  count: number;
  seconds: number;
}

/** Seconds of unmeasured load: until V8 has compiled the code, and before each round for the connections. */
const warmUp = 4;
const settle = 0.5;

/** Measures the CPU µs per request of all pairs in turn, so that a disturbance affects both of a pair. */
export async function measurePairs(pairs: readonly Pair[], { count, seconds }: Rounds): Promise<Row[]> {
  for (const { ours, plain } of pairs) {
    await ours.load(warmUp);
    await plain.load(warmUp);
  }
  const measured = pairs.map(({ name }) => ({ name, ours: [] as Sample[], plain: [] as Sample[] }));
  for (let round = 0; round < count; round += 1) {
    for (const [i, pair] of pairs.entries()) {
      // Neither always comes first.
      for (const which of round % 2 === 0 ? (['ours', 'plain'] as const) : (['plain', 'ours'] as const))
        measured[i]?.[which].push(await sample(pair[which], seconds));
    }
  }
  const cpu = (samples: Sample[]) => samples.map(({ cpu }) => cpu);
  return measured.map(({ name, ours, plain }) => {
    const note = `${describe(ours)}; plain: ${describe(plain)}`;
    return { name, ours: cpu(ours), plain: cpu(plain), note };
  });
}

interface Sample extends LoadResult {
  /** Microseconds per request. */
  cpu: number;
}

async function sample({ load, pid }: Candidate, seconds: number): Promise<Sample> {
  await load(settle);
  await sleep(100);
  const before = cpuTime(pid);
  const result = await load(seconds);
  return { ...result, cpu: (cpuTime(pid) - before) / result.requests };
}

/** Requests a second, and failures if any. */
function describe(samples: readonly Sample[]): string {
  const { median } = spread(samples.map(({ requests, seconds }) => requests / seconds));
  const failed = samples.reduce((sum, { failed }) => sum + failed, 0);
  return `${Math.round(median).toLocaleString('en')}/s${failed > 0 ? `, ${failed} FAILED` : ''}`;
}

/** The extremes and the median; of an even number, the lower of the two in the middle. */
function spread(values: readonly number[]) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (quantile: number) => sorted[Math.floor((sorted.length - 1) * quantile)] ?? Number.NaN;
  return { median: at(0.5), lowest: at(0), highest: at(1) };
}

/** @param machine says what it ran on. */
export function toMarkdown({ title, unit, rows, facts }: Report, machine: Record<string, string>): string {
  const shown = (value: number) => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));
  const inWords = (values: readonly number[]) => {
    const { median, lowest, highest } = spread(values);
    return `${shown(median)} (${shown(lowest)} to ${shown(highest)})`;
  };
  const cells = rows.map(({ name, ours, plain, note }) => {
    // Of neighbours in time.
    const ratios = ours.map((value, round) => value / (plain[round] ?? Number.NaN));
    return [name, inWords(ours), inWords(plain), inWords(ratios), note];
  });
  const listed = Object.entries({ ...machine, ...facts }).map(([name, value]) => `${name}: ${value}`);
  const header = ['', `ours, ${unit}`, 'plain', 'ratio', ''];
  return `## ${title}\n\n_${listed.join('; ')}_\n\n${table([header, ...cells])}\n`;
}
