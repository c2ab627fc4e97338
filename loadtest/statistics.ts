import { randomNumbers } from '@longhand/shared/testing/random.ts';

/** The value below which the share `p` of the sorted values lies, interpolated as k6 does. NaN where there is none. */
export function quantile(sorted: readonly number[], p: number): number {
  const position = p * (sorted.length - 1);
  const below = sorted[Math.floor(position)] ?? Number.NaN;
  const above = sorted[Math.ceil(position)] ?? Number.NaN;
  return below + (above - below) * (position % 1);
}

export const ascending = (values: readonly number[]) => values.toSorted((a, b) => a - b);

export const mean = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

export interface Interval {
  low: number;
  middle: number;
  high: number;
}

/** Resamples of a bootstrap. */
const resamples = 1_000;

/**
 * The bootstrap's percentile intervals (Efron 1979) of what `statistics` makes of resampled data, with the middle.
 *
 * @param confidence the share of intervals that hold the true value, 0.99 for example.
 * @param statistics is called with a source of random numbers from 0 to 1, and returns its values for one resample.
 */
export function bootstrap(confidence: number, statistics: (random: () => number) => number[]): Interval[] {
  // The same numbers each time, so that the same data have the same interval.
  const random = randomNumbers();
  const draws = Array.from({ length: resamples }, () => statistics(random));
  const tail = (1 - confidence) / 2;
  return (draws[0] ?? []).map((_, i) => {
    const values = ascending(draws.map((draw) => draw[i] as number));
    return { low: quantile(values, tail), middle: quantile(values, 0.5), high: quantile(values, 1 - tail) };
  });
}

/** As many of `items`, drawn with replacement. */
export const resample = <Item>(items: readonly Item[], random: () => number): Item[] =>
  items.map(() => items[Math.floor(random() * items.length)] as Item);

/**
 * Quantiles of values that belong to blocks, for resampled blocks: values within a second resemble each other, so whole
 * seconds are drawn, not single values. The values are sorted once, and a resample only weighs them.
 */
export function blockQuantiles(blocks: readonly (readonly number[])[]) {
  const entries = blocks
    .flatMap((values, block) => values.map((value) => ({ value, block })))
    .sort((a, b) => a.value - b.value);
  /** @param weights how often each block was drawn. @param shares ascending. */
  return (weights: ArrayLike<number>, shares: readonly number[]): number[] => {
    let total = 0;
    for (const [block, values] of blocks.entries()) total += values.length * (weights[block] ?? 0);
    const found: number[] = [];
    let seen = 0;
    for (const { value, block } of entries) {
      seen += weights[block] ?? 0;
      while (found.length < shares.length && seen > (shares[found.length] ?? 1) * (total - 1))
        found.push(value);
      if (found.length === shares.length) break;
    }
    return shares.map((_, i) => found[i] ?? Number.NaN);
  };
}

/** How often each of `count` blocks is drawn in `count` draws. */
export function drawWeights(count: number, random: () => number): Uint16Array {
  const weights = new Uint16Array(count);
  for (let i = 0; i < count; i += 1) {
    const block = Math.floor(random() * count);
    weights[block] = (weights[block] ?? 0) + 1;
  }
  return weights;
}

export interface Line {
  slope: number;
  /** The value at x = 0. */
  start: number;
}

/** The least-squares line through points. */
export function fitLine(points: readonly (readonly [x: number, y: number])[]): Line {
  const x = mean(points.map(([x]) => x));
  const y = mean(points.map(([, y]) => y));
  const above = points.reduce((sum, [px, py]) => sum + (px - x) * (py - y), 0);
  const slope = above / points.reduce((sum, [px]) => sum + (px - x) ** 2, 0);
  return { slope, start: y - slope * x };
}
