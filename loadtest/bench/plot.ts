import { integer, type Result } from './report.ts';

const width = 900;
const left = 230;
const right = 110;
const barHeight = 22;
const gap = 10;

/** An SVG bar chart, one group per result: the median as a bar, the lowest and highest round as a whisker. */
export function plot(title: string, results: readonly Result[]): string {
  let height = 46;
  const groups = results.map((result) => {
    const top = height;
    height += 44 + result.plot.bars.length * (barHeight + gap);
    return group(result, top);
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" \
role="img" aria-label="${escapeXml(title)}">
<style>
  text { font: 13px system-ui, sans-serif; fill: #222 } .title { font-size: 17px; font-weight: 600 }
  .group { font-weight: 600 } .bar { fill: #4c78a8 } .whisker { stroke: #222; stroke-width: 1.5 } .page { fill: #fff }
  @media (prefers-color-scheme: dark) {
    text { fill: #eee } .whisker { stroke: #eee } .page { fill: #1b1b1b }
  }
</style>
<rect class="page" width="100%" height="100%"/>
<text class="title" x="12" y="28">${escapeXml(title)}</text>
${groups.join('')}</svg>
`;
}

function group({ title, plot: { unit, bars } }: Result, top: number): string {
  const longest = Math.max(...bars.map(({ max }) => max));
  const x = (value: number) => left + (value / longest) * (width - left - right);
  const rows = bars.map(({ name, median, min, max }, i) => {
    const y = top + 30 + i * (barHeight + gap);
    const middle = y + barHeight / 2;
    return `<text x="${left - 8}" y="${middle + 4}" text-anchor="end">${escapeXml(name)}</text>
<rect class="bar" x="${left}" y="${y}" width="${(x(median) - left).toFixed(1)}" height="${barHeight}"/>
<line class="whisker" x1="${x(min).toFixed(1)}" x2="${x(max).toFixed(1)}" y1="${middle}" y2="${middle}"/>
<text x="${(x(max) + 8).toFixed(1)}" y="${middle + 4}">${formatValue(median)}</text>
`;
  });
  const heading = `${escapeXml(title)} (${escapeXml(unit)})`;
  return `<text class="group" x="12" y="${top + 18}">${heading}</text>\n${rows.join('')}`;
}

const formatValue = (value: number) => (value >= 100 ? integer(value) : `${Number(value.toPrecision(3))}`);

const escapeXml = (text: string) => text.replace(/[<>&"]/g, (character) => `&#${character.charCodeAt(0)};`);
