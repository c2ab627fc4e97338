import type { Interval } from './statistics.ts';
import { bar, line, svg, text } from './svg.ts';

/** A statistic in two runs. */
export interface Difference {
  /** The kind of request, or the candidate of a benchmark. */
  subject: string;
  statistic: string;
  before: number;
  after: number;
  /** Of what changed, with 99 %. */
  change: Interval;
  conclusion: 'faster' | 'slower' | 'no measurable difference';
}

export const confidence = 0.99;

/**
 * A difference below this is none that anyone would notice, however sure: two runs of the same code differ by as much,
 * because memory is laid out differently in each.
 */
const smallest = { milliseconds: 0.05, share: 0.05 };

/** @param more whether more of it is better. */
export function conclude(difference: Omit<Difference, 'conclusion'>, more: boolean): Difference {
  const { before, change, statistic } = difference;
  const floor = Math.max(statistic.endsWith(' ms') ? smallest.milliseconds : 0, smallest.share * before);
  const sure = (change.low > 0 || change.high < 0) && Math.abs(change.middle) > floor;
  const better = change.middle > 0 === more;
  return { ...difference, conclusion: sure ? (better ? 'faster' : 'slower') : 'no measurable difference' };
}

/** One answer for all of them. */
export function overall(differences: readonly Difference[]): string {
  const has = (conclusion: Difference['conclusion']) => differences.some((d) => d.conclusion === conclusion);
  if (has('faster') && has('slower')) return 'faster in some, slower in others';
  return has('faster') ? 'faster' : has('slower') ? 'slower' : 'no measurable difference';
}

const columns = ['', 'statistic', 'A', 'B', 'change', 'interval of 99 %', 'B is'];

/** Rows for a table; the first is the header. */
export function differenceRows(differences: readonly Difference[]): string[][] {
  const shown = (value: number) => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3));
  const signed = (value: number) => (value > 0 ? '+' : '') + shown(value);
  const rows = differences.map(({ subject, statistic, before, after, change, conclusion }) => {
    const interval = `${signed(change.low)} to ${signed(change.high)}`;
    return [subject, statistic, shown(before), shown(after), signed(change.middle), interval, conclusion];
  });
  return [columns, ...rows];
}

const width = 760;
const left = 250;
const right = 30;
const rowHeight = 24;

/** What changed, in percent of A: a bar for each interval, and a tick for its middle. */
export function differencePlot(differences: readonly Difference[]): string {
  const percent = (value: number, before: number) => (100 * value) / before;
  const all = differences.flatMap(({ before, change }) => [
    percent(change.low, before),
    percent(change.high, before),
  ]);
  const reach = Math.min(Math.max(10, ...all.filter(Number.isFinite).map(Math.abs)), 200);
  const x = (value: number) =>
    left + ((Math.max(-reach, Math.min(reach, value)) + reach) / (2 * reach)) * (width - left - right);
  const bottom = 30 + differences.length * rowHeight;
  let content = line(x(0), 20, x(0), bottom, 0.6);
  for (const tick of [-reach, -reach / 2, 0, reach / 2, reach]) {
    content += text(x(tick), 14, `${tick > 0 ? '+' : ''}${tick.toFixed(0)} %`, 'middle');
  }
  const fill = { faster: '#009e73', slower: '#d55e00', 'no measurable difference': '#888' };
  for (const [i, { subject, statistic, before, change, conclusion }] of differences.entries()) {
    const y = 24 + i * rowHeight;
    const [low, middle, high] = [change.low, change.middle, change.high].map((value) =>
      x(percent(value, before)),
    );
    content += text(left - 10, y + 13, `${subject}, ${statistic.replace(/ ms$/, '')}`, 'end');
    content += bar(
      low as number,
      y + 3,
      Math.max((high as number) - (low as number), 2),
      12,
      fill[conclusion],
      conclusion,
    );
    content += line(middle as number, y, middle as number, y + 18, 1, 2);
  }
  return svg('What changed from A to B', width, bottom + 6, content);
}
