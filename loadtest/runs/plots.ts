import { quantile } from '../statistics.ts';
import { bar, colors, legend, line, svg, text } from '../svg.ts';
import { type Latencies, partNames } from './latencies.ts';

const width = 760;
const left = 150;
const right = 90;

const shares = [0.5, 0.9, 0.95, 0.99, 0.999, 1];
const shareNames = ['median', 'p90', 'p95', 'p99', 'p99.9', 'max'];

/** Latencies at the percentiles, a line for each kind of request; milliseconds on a logarithmic scale. */
export function percentilePlot(groups: readonly Latencies[]): string {
  const series = groups.map(({ name, sorted }) => ({ name, values: shares.map((p) => quantile(sorted, p)) }));
  const all = series.flatMap(({ values }) => values).filter((value) => value > 0);
  const low = Math.floor(Math.log10(Math.min(...all)));
  const high = Math.ceil(Math.log10(Math.max(...all)));
  const [top, bottom] = [40, 260];
  const x = (i: number) => 70 + (i / (shares.length - 1)) * (width - 70 - right);
  const y = (value: number) =>
    bottom - ((Math.log10(value) - low) / Math.max(high - low, 1)) * (bottom - top);
  let content = legend(
    series.map(({ name }) => name),
    12,
    18,
  );
  for (let power = low; power <= high; power += 1) {
    content +=
      line(70, y(10 ** power), width - right, y(10 ** power), 0.2) +
      text(62, y(10 ** power) + 4, `${10 ** power} ms`, 'end');
  }
  for (const [i, name] of shareNames.entries()) content += text(x(i), bottom + 22, name, 'middle');
  for (const [i, { name, values }] of series.entries()) {
    const points = values.map((value, i) => `${x(i).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
    const dashes = name === 'control' ? ' stroke-dasharray="5 4"' : '';
    content += `<polyline points="${points}" fill="none" stroke="${colors[i % colors.length]}" stroke-width="2"${dashes}/>\n`;
  }
  return svg('Latencies at the percentiles', width, bottom + 34, content);
}

/** Where the time of a request goes, on average: a bar for each kind. */
export function splitPlot(groups: readonly Latencies[]): string {
  const longest = Math.max(...groups.map(({ parts }) => total(parts)));
  const scale = (width - left - right) / longest;
  let content = legend(partNames, 12, 18);
  for (const [row, { name, parts }] of groups.entries()) {
    const y = 36 + row * 30;
    let x = left;
    content += text(left - 8, y + 15, name, 'end');
    for (const { name: part, milliseconds } of parts) {
      const length = Math.max(milliseconds, 0) * scale;
      content += bar(
        x,
        y,
        length,
        20,
        colors[partNames.indexOf(part as never)] as string,
        `${part} ${milliseconds.toFixed(2)} ms`,
      );
      x += length;
    }
    content += text(x + 8, y + 15, `${total(parts).toFixed(2)} ms`);
  }
  return svg('Where the time goes, on average', width, 44 + groups.length * 30, content);
}

const total = (parts: Latencies['parts']) =>
  parts.reduce((sum, { milliseconds }) => sum + Math.max(milliseconds, 0), 0);
