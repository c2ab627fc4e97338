import fc from 'fast-check';
import { expect, test } from 'vitest';
import { seed } from './random.ts';
import { rounds } from './rounds.ts';

/** Describes how to generate and send untrusted input. */
export interface UntrustedInput {
  /** Max characters of an input. */
  size: number;
  /** Strings from which inputs are assembled. */
  pieces: readonly string[];
  send(input: string): unknown;
}

/** Number of random shapes to try at reduced size. Only the slowest shapes are tried at full size. */
const tried = rounds({ short: 4, long: 2_000 });
const maxTried = rounds({ short: 64 * 1024, long: Number.POSITIVE_INFINITY });
const slowest = rounds({ short: 1, long: 3 });

/** Max milliseconds of CPU time that other clients may wait. */
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

/** Tries every shape at reduced size and returns the slowest shapes. */
async function slowestShapes({ size, pieces, send }: UntrustedInput): Promise<Shape[]> {
  const shapes = [
    ...pieces.map((piece) => repeated([piece])),
    ...fc.sample(mixtures(pieces), { seed, numRuns: tried }),
  ];
  const results = [];
  for (const shape of shapes) {
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

/** Returns a shape in which every repeated unit fills the same length between `start` and `end`. */
function repeated(units: readonly string[], start = '', end = ''): Shape {
  return (length) => {
    const share = (length - start.length - end.length) / units.length;
    return start + units.map((unit) => unit.repeat(Math.max(0, share / unit.length))).join('') + end;
  };
}

function mixtures(pieces: readonly string[]): fc.Arbitrary<Shape> {
  const piece = fc.constantFrom(...pieces);
  const edge = fc.oneof(fc.constant(''), piece);
  const unit = fc.array(piece, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(''));
  return fc
    .tuple(fc.array(unit, { minLength: 1, maxLength: 2 }), edge, edge)
    .map((parts) => repeated(...parts));
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
