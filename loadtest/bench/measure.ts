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
  /** Others by name, which are only shown. */
  others?: Readonly<Record<string, number>>;
}

/** Our code for a request, and the least code for the same. */
interface Compared<Value> {
  name: string;
  ours: Value;
  least: Value;
  /** The highest ratio of ours to the least that we want. */
  goal: number;
}

export interface Pair extends Compared<Candidate> {
  /** Seconds of unmeasured load, until V8 has compiled the code. */
  warmUp?: number;
}

/** A row of a report: the figures of each round. Less is better. */
export interface Row extends Compared<readonly number[]> {
  /** Other figures. */
  note: string;
}

export interface Report {
  title: string;
  unit: string;
  rows: readonly Row[];
}

/** Rounds, and seconds of each. */
export interface Rounds {
  count: number;
  seconds: number;
}

/** Seconds of unmeasured load before each round, for the connections. */
const settle = 0.5;

/** Measures the CPU µs per request of all pairs in turn, so that a disturbance affects both of a pair. */
export async function measurePairs(pairs: readonly Pair[], { count, seconds }: Rounds): Promise<Row[]> {
  for (const { ours, least, warmUp = 2 } of pairs) {
    await ours.load(warmUp);
    await least.load(warmUp);
  }
  const measured = pairs.map((pair) => ({ ...pair, ours: [] as Sample[], least: [] as Sample[] }));
  for (let round = 0; round < count; round += 1) {
    for (const [i, pair] of pairs.entries()) {
      // Neither always comes first.
      for (const which of round % 2 === 0 ? (['ours', 'least'] as const) : (['least', 'ours'] as const))
        measured[i]?.[which].push(await sample(pair[which], seconds));
    }
  }
  const cpu = (samples: Sample[]) => samples.map(({ cpu }) => cpu);
  return measured.map(({ name, goal, ours, least }) => {
    const note = `${describe(ours)}; least: ${describe(least)}`;
    return { name, goal, ours: cpu(ours), least: cpu(least), note };
  });
}

interface Sample extends LoadResult {
  /** Microseconds per request. */
  cpu: number;
  others: readonly { name: string; cpu: number }[];
}

async function sample({ load, pid, others = {} }: Candidate, seconds: number): Promise<Sample> {
  await load(settle);
  await sleep(100);
  const before = [pid, ...Object.values(others)].map(cpuTime);
  const result = await load(seconds);
  const used = (pid: number, i: number) => (cpuTime(pid) - (before[i] ?? 0)) / result.requests;
  const byOthers = Object.entries(others).map(([name, pid], i) => ({ name, cpu: used(pid, i + 1) }));
  return { ...result, cpu: used(pid, 0), others: byOthers };
}

/** Requests a second, the CPU of other processes, and failures if any. */
function describe(samples: readonly Sample[]): string {
  const of = (value: (sample: Sample) => number) => Math.round(spread(samples.map(value)).median);
  const rate = of(({ requests, seconds }) => requests / seconds).toLocaleString('en');
  const others = samples[0]?.others.map(({ name }, i) => {
    const cpu = of(({ others }) => others[i]?.cpu ?? 0);
    return `, ${name} ${cpu} µs`;
  });
  const failed = samples.reduce((sum, { failed }) => sum + failed, 0);
  return `${rate}/s${others?.join('')}${failed > 0 ? `, ${failed} FAILED` : ''}`;
}

/** The extremes and the median; of an even number, the lower of the two in the middle. */
export function spread(values: readonly number[]) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (quantile: number) => sorted[Math.floor((sorted.length - 1) * quantile)] ?? Number.NaN;
  return { median: at(0.5), lowest: at(0), highest: at(1) };
}

/** @param facts about the machine. */
export function toMarkdown({ title, unit, rows }: Report, facts: Record<string, string>): string {
  const shown = (value: number) => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));
  const inWords = (values: readonly number[]) => {
    const { median, lowest, highest } = spread(values);
    return `${shown(median)} (${shown(lowest)} to ${shown(highest)})`;
  };
  const cells = rows.map(({ name, ours, least, goal, note }) => {
    // Of neighbours in time.
    const ratios = ours.map((value, round) => value / (least[round] ?? Number.NaN));
    return [name, inWords(ours), inWords(least), inWords(ratios), `${goal}`, note];
  });
  const listed = Object.entries(facts).map(([name, value]) => `${name}: ${value}`);
  const header = ['', `ours, ${unit}`, 'least', 'ratio', 'goal', ''];
  return `## ${title}\n\n_${listed.join('; ')}_\n\n${table([header, ...cells])}\n`;
}
