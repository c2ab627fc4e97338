import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { machine } from '../machine/environment.ts';
import { markdownTable, textTable } from '../table.ts';

export interface Goal {
  text: string;
  measured: number;
  atLeast?: number;
  atMost?: number;
}

/** The report of one comparison: a table, a plot, and whether the goals are met. */
export interface Result {
  title: string;
  /** The first column holds the names of the rows. */
  columns: string[];
  rows: string[][];
  plot: { unit: string; bars: { name: string; median: number; min: number; max: number }[] };
  goals: Goal[];
  /** The numbers behind the table, for the JSON report. */
  data: unknown;
}

/** A goal that could not be measured (NaN) is not met. */
export const isMet = ({ measured, atLeast = -Infinity, atMost = Infinity }: Goal) =>
  measured >= atLeast && measured <= atMost;

/** The results of a benchmark for the terminal. */
export function toText(results: readonly Result[]): string {
  return results
    .map(({ title, columns, rows, goals }) => {
      const lines = goals.map((goal) => `  ${describeGoal(goal)}\n`);
      return `\n${title}\n${textTable([columns, ...rows])}\n${lines.join('')}`;
    })
    .join('');
}

/** The results of a benchmark for a document, and the `machine` that they were measured on. */
export function toMarkdown(
  title: string,
  results: readonly Result[],
  machine: Record<string, string> = {},
): string {
  const sections = results.map(({ title, columns, rows, goals }) => {
    const list = goals.map((goal) => `- ${describeGoal(goal)}\n`);
    return `### ${title}\n\n${markdownTable([columns, ...rows])}\n\n${list.join('')}`;
  });
  const facts = Object.entries(machine).map(([name, value]) => `${name}: ${value}`);
  const lines = [facts.slice(0, 4), facts.slice(4)].map((line) => line.join('; '));
  return `## ${title}\n\n_${lines.join(';\n')}_\n\n${sections.join('\n')}`;
}

function describeGoal(goal: Goal): string {
  const { text, measured, atLeast, atMost } = goal;
  const bound = atLeast === undefined ? `at most ${atMost}` : `at least ${atLeast}`;
  return `${isMet(goal) ? 'met' : 'NOT MET'}: ${text}: ${Number(measured.toPrecision(3))} (goal: ${bound})`;
}

export const integer = (value: number) => Math.round(value).toLocaleString('en');

/** The machine and the versions that were measured. */
export function environment(): Record<string, string> {
  const version = (name: string) =>
    JSON.parse(readFileSync(findPackageJSON(name, import.meta.url) as string, 'utf8')).version as string;
  return {
    taken: new Date().toISOString(),
    ...machine(),
    hono: version('hono'),
    autocannon: version('autocannon'),
    undici: version('undici'),
  };
}
