import { setTimeout } from 'node:timers/promises';
import { cpuTime } from './cpu.ts';
import type { Goal, Result } from './report.ts';

/** One of those that are measured side by side. */
export interface Contender {
  name: string;
  /** Process numbers by name: their CPU time is counted. */
  processes?: Record<string, number>;
  /** Connections that it and those behind it have opened so far, where that is known. */
  connections?: () => Promise<number>;
  /** Puts it under load for so many seconds. */
  load(seconds: number): Promise<Load>;
}

/** What one round of load came to. */
export interface Load {
  requests: number;
  /** Requests without the answer that was asked for. */
  failed: number;
  /** Seconds in which requests were under way. */
  seconds: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
}

/** The middle of several rounds, and the rounds' extremes. */
export interface Spread {
  median: number;
  min: number;
  max: number;
}

/** A contender's rounds together. */
export interface Measured {
  name: string;
  perSecond: Spread;
  p50: Spread;
  p99: Spread;
  /** Microseconds of CPU time a request, by process and, where there are several, in `total`. */
  cpu: Record<string, Spread>;
  /** Connections opened a request after the warm-up. */
  opened: Spread | undefined;
  failed: number;
}

export interface Comparison {
  title: string;
  contenders: Contender[];
  /** The contender to whose throughput the others' is put in proportion. */
  reference: string;
  goals: { text: string; value(of: (name: string) => Measured): number; atLeast?: number; atMost?: number }[];
}

/** Rounds of each contender, and the seconds that each lasts. */
const rounds = 3;
const roundSeconds = 3;
/** Seconds of load that are not counted: at first, for the compiler, and before each round, for the connections. */
const warmUpSeconds = { first: 2, round: 0.5 };

/** Measures the contenders in turn, again and again, so that a change of the machine's mood meets all of them. */
export async function compare({ title, contenders, reference, goals }: Comparison): Promise<Result> {
  for (const { load } of contenders) await load(warmUpSeconds.first);
  const samples = contenders.map((): Sample[] => []);
  for (let round = 0; round < rounds; round += 1) {
    // Backwards every other time, so that nobody always follows the same neighbour.
    const order = contenders.map((contender, i) => ({ contender, i }));
    if (round % 2 === 1) order.reverse();
    for (const { contender, i } of order) samples[i]?.push(await sample(contender));
  }
  const measured = contenders.map(({ name }, i) => summed(name, samples[i] ?? []));
  return presented({ title, reference, goals: judged(goals, measured), measured });
}

type Sample = Load & { cpu: Record<string, number>; opened: number | undefined };

async function sample({ processes = {}, connections, load }: Contender): Promise<Sample> {
  await load(warmUpSeconds.round);
  // What the generator broke off at its end is still under way, and would take connections from the round.
  await setTimeout(300);
  const used = () => Object.values(processes).map(cpuTime);
  const before = { cpu: used(), connections: await connections?.() };
  const result = await load(roundSeconds);
  const after = used();
  const perRequest = (i: number) => ((after[i] ?? 0) - (before.cpu[i] ?? 0)) / result.requests;
  const cpu = Object.fromEntries(Object.keys(processes).map((name, i) => [name, perRequest(i)]));
  if (after.length > 1) cpu.total = Object.values(cpu).reduce((sum, value) => sum + value);
  const opened = connections && ((await connections()) - (before.connections ?? 0)) / result.requests;
  return { ...result, cpu, opened };
}

function summed(name: string, samples: Sample[]): Measured {
  const of = (value: (sample: Sample) => number) => spread(samples.map(value));
  const processes = Object.keys(samples[0]?.cpu ?? {});
  return {
    name,
    perSecond: of(({ requests, seconds }) => requests / seconds),
    p50: of(({ p50 }) => p50),
    p99: of(({ p99 }) => p99),
    cpu: Object.fromEntries(processes.map((process) => [process, of(({ cpu }) => cpu[process] ?? 0)])),
    opened: samples.every(({ opened }) => opened !== undefined) ? of(({ opened = 0 }) => opened) : undefined,
    failed: samples.reduce((sum, { failed }) => sum + failed, 0),
  };
}

export function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
  return { median: at(0.5), min: at(0), max: at(1) };
}

function judged(goals: Comparison['goals'], measured: Measured[]): Goal[] {
  const of = (name: string) => {
    const found = measured.find((one) => one.name === name);
    if (!found) throw new Error(`There is no contender ${name}.`);
    return found;
  };
  return goals.map(({ text, value, ...bounds }) => ({ text, measured: value(of), ...bounds }));
}

function presented(comparison: {
  title: string;
  reference: string;
  goals: Goal[];
  measured: Measured[];
}): Result {
  const { title, reference, goals, measured } = comparison;
  const base = measured.find(({ name }) => name === reference)?.perSecond.median ?? Number.NaN;
  return {
    title,
    columns: [
      '',
      'a second',
      'lowest to highest',
      'times',
      'p50 ms',
      'p99 ms',
      'CPU µs each',
      'opened each',
      'failed',
    ],
    rows: measured.map(({ name, perSecond, p50, p99, cpu, opened, failed }) => [
      name,
      whole(perSecond.median),
      `${whole(perSecond.min)} to ${whole(perSecond.max)}`,
      (perSecond.median / base).toFixed(2),
      p50.median.toFixed(2),
      p99.median.toFixed(2),
      Object.entries(cpu)
        .map(([process, { median }]) => `${process} ${whole(median)}`)
        .join(', '),
      opened ? opened.median.toFixed(3) : '',
      `${failed}`,
    ]),
    plot: {
      unit: 'requests a second',
      bars: measured.map(({ name, perSecond }) => ({ name, ...perSecond })),
    },
    goals,
    data: measured,
  };
}

const whole = (value: number) => Math.round(value).toLocaleString('en');
