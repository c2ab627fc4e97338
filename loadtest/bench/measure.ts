import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export interface LoadResult {
  requests: number;
  failed: number;
  seconds: number;
}

/** A server and its load. */
export interface Candidate {
  load(seconds: number): Promise<LoadResult>;
  /** ID of the process to measure. Child processes are included. */
  pid: number;
}

/** Values for our implementation and the plain implementation. */
interface Compared<Value> {
  name: string;
  ours: Value;
  plain: Value;
}

export type Pair = Compared<Candidate>;

/** Measurements of each round. Lower is better. */
export interface Row extends Compared<readonly number[]> {
  note: string;
}

export interface Report {
  title: string;
  unit: string;
  rows: readonly Row[];
}

/** Number of rounds and their duration (s). */
export const rounds = { count: 5, seconds: 2 };

/** Unmeasured load at the start, while V8 compiles (s). */
const warmUp = 4;
/** Unmeasured load before each round, while connections open (s). */
const settle = 0.5;

/** Length of a tick (µs). Linux's USER_HZ is always 100. */
const tick = 10_000;

/** Returns the CPU time of a process and its children so far, in µs. Linux only. */
export function cpuTime(pid: number): number {
  // The second field, in parentheses, may contain spaces. utime and stime are fields 14 and 15.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  const own = (Number(fields[11]) + Number(fields[12])) * tick;
  return children.reduce((sum, child) => sum + cpuTime(Number(child)), own);
}

/** Measures CPU time per request (µs). Alternates between the two services so that disturbances affect both. */
export async function measurePairs(pairs: readonly Pair[], { count, seconds } = rounds): Promise<Row[]> {
  for (const { ours, plain } of pairs) {
    await ours.load(warmUp);
    await plain.load(warmUp);
  }
  const measured = pairs.map(({ name }) => ({ name, ours: [] as Sample[], plain: [] as Sample[] }));
  for (let round = 0; round < count; round += 1) {
    for (const [i, pair] of pairs.entries()) {
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
  /** In µs per request. */
  cpu: number;
}

async function sample({ load, pid }: Candidate, seconds: number): Promise<Sample> {
  await load(settle);
  await sleep(100);
  const before = cpuTime(pid);
  const result = await load(seconds);
  return { ...result, cpu: (cpuTime(pid) - before) / result.requests };
}

/** Formats the request rate and the number of failures. */
function describe(samples: readonly Sample[]): string {
  const { median } = spread(samples.map(({ requests, seconds }) => requests / seconds));
  const failed = samples.reduce((sum, { failed }) => sum + failed, 0);
  return `${Math.round(median).toLocaleString('en')}/s${failed > 0 ? `, ${failed} FAILED` : ''}`;
}

function spread(values: readonly number[]) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (quantile: number) => sorted[Math.floor((sorted.length - 1) * quantile)] ?? Number.NaN;
  return { median: at(0.5), lowest: at(0), highest: at(1) };
}

/** Renders a report. @param machine facts about the machine, printed below the title. */
export function toMarkdown({ title, unit, rows }: Report, machine: Record<string, string>): string {
  const shown = (value: number) => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));
  const inWords = (values: readonly number[]) => {
    const { median, lowest, highest } = spread(values);
    return `${shown(median)} (${shown(lowest)} to ${shown(highest)})`;
  };
  const cells = rows.map(({ name, ours, plain, note }) => {
    const ratios = ours.map((value, round) => value / (plain[round] ?? Number.NaN));
    return [name, inWords(ours), inWords(plain), inWords(ratios), note];
  });
  const listed = Object.entries(machine).map(([name, value]) => `${name}: ${value}`);
  const header = [
    ['', `ours, ${unit}`, 'plain', 'ratio', ''],
    ['---', ...Array(4).fill('--:')],
  ];
  const table = [...header, ...cells].map((row) => `| ${row.join(' | ')} |`).join('\n');
  return `## ${title}\n\n_${listed.join('; ')}_\n\n${table}\n`;
}
