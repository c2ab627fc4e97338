import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import os from 'node:os';
import { markdownTable, textTable } from '../table.ts';

export interface Goal {
  text: string;
  measured: number;
  atLeast?: number;
  atMost?: number;
}

/** What is shown of one comparison: a table, a plot, and whether the goals are met. */
export interface Result {
  title: string;
  /** The first is the name of the row. */
  columns: string[];
  rows: string[][];
  plot: { unit: string; bars: { name: string; median: number; min: number; max: number }[] };
  goals: Goal[];
  /** The figures behind the table, for the JSON. */
  data: unknown;
}

export const holds = ({
  measured,
  atLeast = Number.NEGATIVE_INFINITY,
  atMost = Number.POSITIVE_INFINITY,
}: Goal) => measured >= atLeast && measured <= atMost;

/** The results of a benchmark for the terminal. */
export function text(results: readonly Result[]): string {
  return results
    .map(
      ({ title, columns, rows, goals }) =>
        `\n${title}\n${textTable([columns, ...rows])}\n${goals.map(line).join('')}`,
    )
    .join('');
}

/** The results of a benchmark for a document. */
export function markdown(title: string, results: readonly Result[]): string {
  const sections = results.map(({ title, columns, rows, goals }) => {
    return `### ${title}\n\n${markdownTable([columns, ...rows])}\n\n${goals.map((goal) => `- ${line(goal).trim()}\n`).join('')}`;
  });
  return `## ${title}\n\n${sections.join('\n')}`;
}

function line(goal: Goal): string {
  const { text, measured, atLeast, atMost } = goal;
  const bound = atLeast === undefined ? `at most ${atMost}` : `at least ${atLeast}`;
  return `  ${holds(goal) ? 'met' : 'NOT MET'}: ${text}: ${Number(measured.toPrecision(3))} (goal: ${bound})\n`;
}

/** What the figures were taken on and with. */
export function machine(): Record<string, string> {
  const version = (name: string) =>
    JSON.parse(readFileSync(findPackageJSON(name, import.meta.url) as string, 'utf8')).version as string;
  const program = (command: string, argument: string) => {
    try {
      return execFileSync(command, [argument], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      }).trim();
    } catch {
      return 'not here';
    }
  };
  return {
    taken: new Date().toISOString(),
    processor: `${os.availableParallelism()} x ${os.cpus()[0]?.model.trim()}`,
    memory: `${Math.round(os.totalmem() / 2 ** 30)} GiB`,
    system: `${os.type()} ${os.release()}`,
    node: process.version,
    redis: /v=(\S+)/.exec(program('redis-server', '--version'))?.[1] ?? 'not here',
    hono: version('hono'),
    autocannon: version('autocannon'),
    undici: version('undici'),
  };
}
