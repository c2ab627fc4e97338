import fc from 'fast-check';
import { expect, test } from 'vitest';
import { seed } from './random.ts';
import { rounds } from './rounds.ts';

/** Describes how to generate and send untrusted input. */
export interface UntrustedInput {
  /** Maximum characters of an input. */
  size: number;
  /** Strings from which inputs are assembled. */
  pieces: readonly string[];
  send(input: string): unknown;
}

/** Number of random shapes to try at reduced size. Only the slowest shapes are tried at full size. */
const tried = rounds({ short: 4, long: 2_000 });
const maxTried = rounds({ short: 64 * 1024, long: Number.POSITIVE_INFINITY });
const slowest = rounds({ short: 1, long: 3 });

/** Maximum milliseconds of CPU time that other clients may wait. */
const limit = 100;

/** Tests that no input blocks other clients for more than 100 ms. The keys of `inputs` are the test names. */
export function testWorstInputs(inputs: Readonly<Record<string, UntrustedInput>>): void {
  const settings = { timeout: 120_000 };
  test.for(Object.entries(inputs))('%s: no input blocks for 100 ms', settings, async ([, kind]) => {
    for (const shape of await slowestShapes(kind)) {
      const input = shape(kind.size);
      expect(await excess(() => kind.send(input)), input.slice(0, 100)).toBeLessThan(1);
    }
  });
}

/** A function that reads untrusted text. */
export interface Parser extends Pick<UntrustedInput, 'pieces'> {
  /** Maximum characters that it reads; by default, 64 KiB. */
  size?: number;
  read(text: string): unknown;
}

/** Maximum growth of the time for twice the text. A linear parser needs twice the time, a quadratic one four times. */
const maxGrowth = 2.6;

/** Times (ms) below this are fixed costs. A quadratic parser needs far longer for the longest text. */
const fixedCost = 2;

/** Number of random shapes per parser. */
const parsed = rounds({ short: 25, long: 2_000 });

/** Tests that the time of each parser grows with the length of the text, and not with its square. The keys are the test names. */
export function testLinearTime(parsers: Readonly<Record<string, Parser>>): void {
  const settings = { timeout: 600_000 };
  test.for(Object.entries(parsers))('%s: linear time', settings, async ([, parser]) => {
    const { pieces, size = 64 * 1024, read } = parser;
    for (const shape of shapesOf(pieces, parsed)) {
      const [half, whole] = [shape(size / 2), shape(size)];
      let least = Number.POSITIVE_INFINITY;
      for (let tries = 0; tries < 10 && least > maxGrowth; tries += 1) {
        least = Math.min(
          least,
          await growth(
            () => read(half),
            () => read(whole),
          ),
        );
      }
      expect(least, `${half.slice(0, 60)}…${half.slice(-20)}`).toBeLessThan(maxGrowth);
    }
  });
}

/** Returns the median time of `more` relative to that of `less`; 0 if `more` takes no longer than a fixed cost. */
async function growth(less: () => unknown, more: () => unknown): Promise<number> {
  const times: Record<'less' | 'more', number[]> = { less: [], more: [] };
  for (let i = 0; i < 5; i += 1) {
    const time = await timeOf(more);
    if (time < fixedCost) return 0;
    times.more.push(time);
    times.less.push(await timeOf(less));
  }
  return median(times.more) / median(times.less);
}

/** Returns the time (ms) of a call. The CPU time of so short a call is only an estimate by the kernel. */
async function timeOf(act: () => unknown): Promise<number> {
  const start = performance.now();
  try {
    await act();
  } catch {
    // A parser may reject the text.
  }
  return performance.now() - start;
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[times.length >> 1] ?? Number.NaN;
}

/** Returns every piece repeated, and random mixtures of pieces. */
function shapesOf(pieces: readonly string[], count: number): Shape[] {
  return [...pieces.map((piece) => repeated({ units: [piece] })), ...mixturesOf(pieces, count).map(repeated)];
}

/** Tries every shape at reduced size and returns the slowest shapes. */
async function slowestShapes({ size, pieces, send }: UntrustedInput): Promise<Shape[]> {
  const results = [];
  for (const shape of shapesOf(pieces, tried)) {
    const input = shape(Math.min(Math.ceil(size / 8), maxTried));
    results.push({ shape, ms: await longestWait(() => send(input)) });
  }
  results.sort((a, b) => b.ms - a.ms);
  return results.slice(0, slowest).map(({ shape }) => shape);
}

/**
 * Returns how long other clients wait during `act`, relative to the limit. Makes up to five attempts, because V8 compiles the
 * code during the first. A slow machine raises the limit to the current duration of `knownWork`.
 */
async function excess(act: () => unknown): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 5 && best >= 1; tries += 1) {
    const wait = await longestWait(act);
    best = Math.min(best, wait / (wait < limit ? limit : Math.max(limit, knownWork())));
  }
  return best;
}

const json = `[${'{"title": "http://t.co/a", "b": [1, 2.5, "é"]}, '.repeat(2_000)}0]`;

/** Does work that takes 100 ms of CPU time on an idle machine. Returns the actual CPU time (ms). */
function knownWork(): number {
  const before = cpuTime();
  for (let i = 0; i < 25; i += 1) {
    JSON.stringify(JSON.parse(json)).replace(/\p{L}+/gu, (word) => word.toUpperCase());
  }
  return cpuTime() - before;
}

type Shape = (length: number) => string;

/** The strings of which a shape consists. */
export interface Mixture {
  units: readonly string[];
  start?: string;
  end?: string;
}

/** Returns a shape in which every repeated unit fills the same length between `start` and `end`. */
export function repeated({ units, start = '', end = '' }: Mixture): Shape {
  return (length) => {
    const share = (length - start.length - end.length) / units.length;
    return start + units.map((unit) => unit.repeat(Math.max(0, share / unit.length))).join('') + end;
  };
}

/** Returns `count` random mixtures of pieces, with the seed of this run. */
export function mixturesOf(pieces: readonly string[], count: number): Mixture[] {
  const piece = fc.constantFrom(...pieces);
  const edge = fc.oneof(fc.constant(''), piece);
  const unit = fc.array(piece, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(''));
  const units = fc.array(unit, { minLength: 1, maxLength: 2 });
  return fc.sample(fc.record({ units, start: edge, end: edge }), { seed, numRuns: count });
}

/**
 * Returns the CPU time (ms) that another request would wait during `act`. The server reads a request in one turn of the event
 * loop and responds in the next.
 */
async function longestWait(act: () => unknown): Promise<number> {
  let longest = 0;
  let acting = true;
  let [before, turn] = [cpuTime(), cpuTime()];
  const look = () => {
    const now = cpuTime();
    longest = Math.max(longest, now - before);
    [before, turn] = [turn, now];
    if (acting) setImmediate(look).unref();
  };
  // An idle event loop would spin without unref().
  setImmediate(look).unref();
  await new Promise(setImmediate);
  try {
    await act();
  } finally {
    acting = false;
    look();
  }
  return longest;
}

function cpuTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
