import type { Result } from './report.ts';

const width = 900;
const left = 230;
const right = 110;
const barHeight = 22;
const gap = 10;

/** A bar a row, with its value and the spread of the rounds, one group for each result. */
export function plot(title: string, results: readonly Result[]): string {
  let y = 46;
  const groups = results.map((result) => {
    const { svg, height } = group(result, y);
    y += height;
    return svg;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y}" width="${width}" height="${y}" role="img" aria-label="${escaped(title)}">
<style>
  text { font: 13px system-ui, sans-serif; fill: #222 } .title { font-size: 17px; font-weight: 600 } .group { font-weight: 600 }
  .bar { fill: #4c78a8 } .spread { stroke: #222; stroke-width: 1.5 } .page { fill: #fff }
  @media (prefers-color-scheme: dark) { text { fill: #eee } .spread { stroke: #eee } .page { fill: #1b1b1b } }
</style>
<rect class="page" width="100%" height="100%"/>
<text class="title" x="12" y="28">${escaped(title)}</text>
${groups.join('')}</svg>
`;
}

function group({ title, plot: { unit, bars } }: Result, top: number): { svg: string; height: number } {
  const most = Math.max(...bars.map(({ max }) => max));
  const x = (value: number) => left + (value / most) * (width - left - right);
  const rows = bars.map(({ name, median, min, max }, i) => {
    const y = top + 30 + i * (barHeight + gap);
    const middle = y + barHeight / 2;
    return `<text x="${left - 8}" y="${middle + 4}" text-anchor="end">${escaped(name)}</text>
<rect class="bar" x="${left}" y="${y}" width="${(x(median) - left).toFixed(1)}" height="${barHeight}"/>
<line class="spread" x1="${x(min).toFixed(1)}" x2="${x(max).toFixed(1)}" y1="${middle}" y2="${middle}"/>
<text x="${(x(max) + 8).toFixed(1)}" y="${middle + 4}">${written(median)}</text>
`;
  });
  const heading = `<text class="group" x="12" y="${top + 18}">${escaped(title)} (${escaped(unit)})</text>\n`;
  return { svg: heading + rows.join(''), height: 44 + bars.length * (barHeight + gap) };
}

const written = (value: number) =>
  value >= 100 ? Math.round(value).toLocaleString('en') : `${Number(value.toPrecision(3))}`;

const escaped = (text: string) => text.replace(/[<>&"]/g, (character) => `&#${character.charCodeAt(0)};`);
