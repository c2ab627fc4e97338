import { conclude, confidence, type Difference } from '../difference.ts';
import type { Sample } from '../samples.ts';
import { blockQuantiles, bootstrap, drawWeights, type Interval, mean, quantile } from '../statistics.ts';
import { isLoad } from './latencies.ts';

const shares = [
  { statistic: 'median ms', share: 0.5 },
  { statistic: 'p95 ms', share: 0.95 },
  { statistic: 'p99 ms', share: 0.99 },
  { statistic: 'p99.9 ms', share: 0.999 },
];

/** A quantile of fewer values is one of the last few, and says nothing. */
const fewest = (share: number) => 5 / (1 - share);

/** The latencies of one kind of request and of the control, second by second. */
interface Seconds {
  stack: number[][];
  control: number[][];
}

/**
 * Compares what two runs of a script measured, for each kind of request. What changed for the control at the same time
 * is the machine's share, and is subtracted: its median, because its rarer values are too few.
 */
export function compareRuns(before: readonly Sample[], after: readonly Sample[]): Difference[] {
  const names = [...new Set(after.filter(({ tags }) => isLoad(tags)).map(({ tags }) => tags.name ?? ''))];
  return names
    .filter((name) => name !== 'control')
    .flatMap((name) => compareRequests(name, secondsOf(before, name), secondsOf(after, name)));
}

function compareRequests(subject: string, before: Seconds, after: Seconds): Difference[] {
  const count = Math.min(before.stack.flat().length, after.stack.flat().length);
  const measurable = shares.filter(({ share }) => count >= fewest(share));
  if (measurable.length === 0) return [];
  const quantiles = measurable.map(({ share }) => share);
  const controlled = [before, after].every(({ control }) => control.flat().length > 0);
  const [old, recent] = [drawing(before, quantiles, controlled), drawing(after, quantiles, controlled)];
  const changes = bootstrap(confidence, (random) => {
    const a = old(random);
    return recent(random).map((value, i) => value - (a[i] as number));
  });
  const statistics = [...measurable.map(({ statistic }) => statistic), 'requests/s'];
  const [a, b] = [measured(before, quantiles), measured(after, quantiles)];
  return statistics.map((statistic, i) => {
    const difference = { subject, statistic, before: a[i] as number, after: b[i] as number };
    return conclude({ ...difference, change: changes[i] as Interval }, statistic === 'requests/s');
  });
}

/** Draws seconds of a run, and returns the quantiles and the rate of that resample. */
function drawing({ stack, control }: Seconds, quantiles: number[], controlled: boolean) {
  const [ofStack, ofControl] = [blockQuantiles(stack), blockQuantiles(control)];
  return (random: () => number): number[] => {
    const weights = drawWeights(stack.length, random);
    const machine = controlled ? (ofControl(weights, [0.5])[0] as number) : 0;
    const rate = mean(stack.map(({ length }, second) => length * (weights[second] as number)));
    return [...ofStack(weights, quantiles).map((value) => value - machine), rate];
  };
}

function measured({ stack }: Seconds, quantiles: number[]): number[] {
  const sorted = stack.flat().sort((a, b) => a - b);
  return [...quantiles.map((share) => quantile(sorted, share)), mean(stack.map(({ length }) => length))];
}

/** The whole seconds in which requests of this name were sent. */
function secondsOf(samples: readonly Sample[], name: string): Seconds {
  const load = samples.filter(({ metric, tags }) => metric === 'http_req_duration' && isLoad(tags));
  const times = load.filter(({ tags }) => tags.name === name).map(({ at }) => at);
  const start = times.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const end = times.reduce((a, b) => Math.max(a, b), 0);
  const count = Math.max(Math.floor((end - start) / 1_000), 0);
  const seconds = (wanted: string) => {
    const blocks = Array.from({ length: count }, (): number[] => []);
    for (const { at, value, tags } of load) {
      if (tags.name === wanted) blocks[Math.floor((at - start) / 1_000)]?.push(value);
    }
    return blocks;
  };
  return { stack: seconds(name), control: seconds('control') };
}
