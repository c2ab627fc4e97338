import { bar, colors, line, svg, text } from '../svg.ts';
import { integer, type Result } from './report.ts';

const width = 900;
const left = 230;
const right = 110;
const rowHeight = 32;

/** An SVG bar chart, one group per result: the median as a bar, the lowest and highest round as a line on it. */
export function plot(title: string, results: readonly Result[]): string {
  let content = text(12, 28, title);
  let y = 46;
  for (const { title, plot } of results) {
    content += text(12, y + 18, `${title} (${plot.unit})`);
    y += 30;
    const scale = (width - left - right) / Math.max(...plot.bars.map(({ max }) => max));
    for (const { name, median, min, max } of plot.bars) {
      const [lowest, highest, middle] = [left + min * scale, left + max * scale, y + 11];
      content +=
        text(left - 8, middle + 4, name, 'end') +
        bar(left, y, median * scale, 22, colors[0] as string, name) +
        line(lowest, middle, highest, middle, 1, 1.5) +
        text(highest + 8, middle + 4, shown(median));
      y += rowHeight;
    }
    y += 14;
  }
  return svg(title, width, y, content);
}

const shown = (value: number) => (value >= 100 ? integer(value) : `${Number(value.toPrecision(3))}`);
