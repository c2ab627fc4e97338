import { setTimeout } from 'node:timers/promises';
import { cpuTime } from '../machine/process-usage.ts';
import { type Goal, integer, type Result } from './report.ts';

/** One of the implementations that are compared. */
export interface Candidate {
  name: string;
  /** Process ids by name; their CPU time is measured. */
  processes?: Record<string, number>;
  /** Counts the connections that it, and what is behind it, have opened so far. */
  connectionsOpened?: () => Promise<number>;
  /** The candidate whose throughput its own is compared with, if that is not the baseline. */
  ceiling?: string;
  /** Seconds of unmeasured load until the compiler has done its work; 2 by default. */
  warmUp?: number;
  /** Puts it under load for `seconds`. */
  load(seconds: number): Promise<LoadResult>;
}

export interface LoadResult {
  requests: number;
  /** Requests without the expected response. */
  failed: number;
  /** Seconds with requests in flight. */
  seconds: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
}

export interface Spread {
  median: number;
  min: number;
  max: number;
  /** The value of each round. */
  rounds: readonly number[];
}

/** All rounds of a candidate. */
export interface Measurement {
  name: string;
  ceiling: string | undefined;
  perSecond: Spread;
  p50: Spread;
  p99: Spread;
  /** Microseconds of CPU time per request, by process and in total. */
  cpu: Record<string, Spread>;
  totalCpu: Spread;
  /** Connections opened per request after the warm-up. */
  opened: Spread | undefined;
  failed: number;
}

type Metric = (of: (candidate: string) => Measurement) => number;

export interface Comparison {
  title: string;
  candidates: Candidate[];
  /** The candidate whose throughput counts as 1; by default each counts for itself, but for those with a ceiling. */
  baseline?: string;
  goals: { text: string; value: Metric; atLeast?: number; atMost?: number }[];
  /** Rounds for each candidate, and seconds for each round: many short ones show a small difference. */
  rounds?: { count: number; seconds: number };
}

/** Throughput of one candidate divided by another's. */
export const throughputRatio =
  (candidate: string, other: string): Metric =>
  (of) =>
    of(candidate).perSecond.median / of(other).perSecond.median;

/** CPU time per request of one candidate divided by another's. */
export const cpuRatio =
  (candidate: string, other: string): Metric =>
  (of) =>
    of(candidate).totalCpu.median / of(other).totalCpu.median;

const defaultRounds = { count: 3, seconds: 3 };
/** Seconds of unmeasured load: once for the compiler, and before each round for the connections. */
const warmUpSeconds = { compiler: 2, connections: 0.5 };

/** Measures the candidates in turn, round by round, so that a disturbance on the machine affects all of them. */
export async function compare(comparison: Comparison): Promise<Result> {
  const { title, candidates, baseline, goals, rounds = defaultRounds } = comparison;
  for (const { load, warmUp = warmUpSeconds.compiler } of candidates) await load(warmUp);
  const samples = new Map(candidates.map((candidate) => [candidate, [] as Sample[]]));
  for (let round = 0; round < rounds.count; round += 1) {
    // Every other round runs backwards, so that no candidate always follows the same one.
    for (const candidate of round % 2 === 1 ? candidates.toReversed() : candidates) {
      samples.get(candidate)?.push(await sample(candidate, rounds.seconds));
    }
  }
  const measurements = candidates.map((candidate) => summarize(candidate, samples.get(candidate) ?? []));
  return {
    title,
    ...table(measurements, baseline),
    goals: evaluate(goals, measurements),
    data: measurements,
  };
}

type Sample = LoadResult & { cpu: Record<string, number>; totalCpu: number; opened: number | undefined };

async function sample(candidate: Candidate, seconds: number): Promise<Sample> {
  const { processes = {}, connectionsOpened, load } = candidate;
  await load(warmUpSeconds.connections);
  // Requests that the load generator abandoned at its end are still in flight and would take part in the round.
  await setTimeout(300);
  const cpuTimes = () => Object.values(processes).map(cpuTime);
  const cpuBefore = cpuTimes();
  const openedBefore = (await connectionsOpened?.()) ?? 0;
  const result = await load(seconds);
  const cpuUsed = cpuTimes().map((after, i) => (after - (cpuBefore[i] ?? 0)) / result.requests);
  return {
    ...result,
    cpu: Object.fromEntries(Object.keys(processes).map((name, i) => [name, cpuUsed[i] ?? 0])),
    totalCpu: cpuUsed.reduce((sum, value) => sum + value, 0),
    opened: connectionsOpened && ((await connectionsOpened()) - openedBefore) / result.requests,
  };
}

function summarize({ name, ceiling }: Candidate, samples: Sample[]): Measurement {
  const over = (value: (sample: Sample) => number) => spread(samples.map(value));
  const processes = Object.keys(samples[0]?.cpu ?? {});
  return {
    name,
    ceiling,
    perSecond: over(({ requests, seconds }) => requests / seconds),
    p50: over(({ p50 }) => p50),
    p99: over(({ p99 }) => p99),
    cpu: Object.fromEntries(processes.map((process) => [process, over(({ cpu }) => cpu[process] ?? 0)])),
    totalCpu: over(({ totalCpu }) => totalCpu),
    opened: samples[0]?.opened === undefined ? undefined : over(({ opened = 0 }) => opened),
    failed: samples.reduce((sum, { failed }) => sum + failed, 0),
  };
}

export function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (quantile: number) => sorted[Math.floor((sorted.length - 1) * quantile)] ?? Number.NaN;
  return { median: at(0.5), min: at(0), max: at(1), rounds: values };
}

/** A table of what was measured several times: the median, and the lowest and highest. */
export function spreadTable(
  { title, unit, digits, goals }: { title: string; unit: string; digits: number; goals: Goal[] },
  runs: Record<string, readonly number[]>,
): Result {
  const bars = Object.entries(runs).map(([name, values]) => ({ name, ...spread(values) }));
  const rows = bars.map(({ name, median, min, max }) => {
    const [middle, lowest, highest] = [median, min, max].map((value) => value.toFixed(digits));
    return [name, `${middle}`, `${lowest} to ${highest}`];
  });
  return { title, columns: ['', unit, 'lowest to highest'], rows, plot: { unit, bars }, goals, data: runs };
}

function evaluate(goals: Comparison['goals'], measurements: Measurement[]): Goal[] {
  const of = (name: string) => {
    const found = measurements.find((measurement) => measurement.name === name);
    if (!found) throw new Error(`There is no candidate ${name}.`);
    return found;
  };
  return goals.map(({ value, ...goal }) => ({ ...goal, measured: value(of) }));
}

function table(measurements: Measurement[], baseline?: string): Pick<Result, 'columns' | 'rows' | 'plot'> {
  const throughput = (of: string) =>
    measurements.find(({ name }) => name === of)?.perSecond.median ?? Number.NaN;
  const records = measurements.map(
    ({ name, ceiling = baseline ?? name, perSecond, p50, p99, cpu, totalCpu, opened, failed }) => {
      const byProcess = Object.entries(cpu).map(([process, { median }]) => `${process} ${integer(median)}`);
      if (byProcess.length > 1) byProcess.push(`total ${integer(totalCpu.median)}`);
      return {
        '': name,
        'requests/s': integer(perSecond.median),
        'lowest to highest': `${integer(perSecond.min)} to ${integer(perSecond.max)}`,
        relative: (perSecond.median / throughput(ceiling)).toFixed(2),
        'p50 ms': p50.median.toFixed(2),
        'p99 ms': p99.median.toFixed(2),
        'CPU µs/request': byProcess.join(', '),
        ...(opened && { connects: opened.median.toFixed(3) }),
        failed: `${failed}`,
      };
    },
  );
  const bars = measurements.map(({ name, perSecond }) => ({ name, ...perSecond }));
  return {
    columns: Object.keys(records[0] ?? {}),
    rows: records.map((record) => Object.values(record)),
    plot: { unit: 'requests/s', bars },
  };
}
