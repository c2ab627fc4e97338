import { bar, colors, legend, svg, text } from '../svg.ts';
import { answerers, percent, type Shares, shares, type Traffic } from './hit-rates.ts';

// Prints the plot of docs/sizing.md, and its table to standard error:
//
//   node loadtest/sizing/plot.ts > docs/images/hit-rates.svg

const rows: Traffic[] = [
  { links: 10_000, perSecond: 100, replicas: 1 },
  { links: 100_000, perSecond: 100, replicas: 1 },
  { links: 100_000, perSecond: 2_000, replicas: 2 },
  { links: 1_000_000, perSecond: 2_000, replicas: 2 },
  { links: 1_000_000, perSecond: 20_000, replicas: 8 },
];
const number = new Intl.NumberFormat('en');
const label = ({ links, perSecond, replicas }: Traffic) =>
  `${number.format(links)} links, ${number.format(perSecond)}/s, ${replicas} ${replicas === 1 ? 'expander' : 'expanders'}`;

const [left, width] = [280, 400];
const found = rows.map((traffic) => ({ traffic, shares: shares(traffic) }));
const stacked = (parts: Shares, y: number) => {
  let x = left;
  return answerers
    .map((name, i) => {
      const piece = bar(
        x,
        y,
        parts[name] * width,
        18,
        colors[i] as string,
        `${name}: ${percent(parts[name])}`,
      );
      x += parts[name] * width;
      return piece;
    })
    .join('');
};
const drawn = found.map(({ traffic, shares }, i) => {
  const y = 40 + i * 30;
  return text(left - 8, y + 14, label(traffic), 'end') + stacked(shares, y);
});
const height = 50 + rows.length * 30;
console.log(
  svg('Who answers a request', left + width + 10, height, legend(answerers, left, 20) + drawn.join('')),
);
for (const { traffic, shares } of found) {
  console.error(`| ${label(traffic)} | ${answerers.map((name) => percent(shares[name])).join(' | ')} |`);
}
