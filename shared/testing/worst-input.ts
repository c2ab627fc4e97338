import fc from 'fast-check';
import { expect, test } from 'vitest';
import { seed } from './random.ts';
import { rounds } from './rounds.ts';

/** What a stranger may send to one place. */
export interface Strangers {
  /** Characters of the longest input that is allowed there. */
  size: number;
  /** What inputs are made of. */
  pieces: readonly string[];
  /** Hands the input over, and resolves once it has been dealt with. */
  send(input: string): unknown;
}

/** Inputs tried at an eighth of their size, or less; the slowest of them are then tried at full size. */
const tried = rounds({ short: 4, long: 2_000 });
const maxTried = rounds({ short: 64 * 1024, long: Number.POSITIVE_INFINITY });
const slowest = rounds({ short: 1, long: 3 });

/** Milliseconds that other clients may wait. */
const limit = 100;

/** Tests for each place that no input keeps other clients waiting for 100 ms. */
export function testWorstInputs(places: Readonly<Record<string, Strangers>>): void {
  test.for(Object.entries(places))(
    '%s: no input keeps other clients waiting for 100 ms',
    { timeout: 120_000 },
    async ([, place]) => {
      const { ms, input } = await worstInput(place);
      expect(ms, input).toBeLessThan(limit);
    },
  );
}

/**
 * Looks for the input that keeps other clients waiting longest.
 *
 * @returns milliseconds of CPU that it takes without a pause, and its beginning.
 */
async function worstInput({ size, pieces, send }: Strangers): Promise<{ ms: number; input: string }> {
  const measured = async (shape: Shape, length: number) => {
    const input = shape(length);
    return { shape, input: input.slice(0, 100), ms: await longestWait(() => send(input)) };
  };
  const worst = (results: Awaited<ReturnType<typeof measured>>[]) => results.sort((a, b) => b.ms - a.ms);

  const shapes = [
    ...pieces.map((piece) => repeated([piece])),
    ...fc.sample(mixtures(pieces), { seed, numRuns: tried }),
  ];
  const small = [];
  for (const shape of shapes) {
    small.push(await measured(shape, Math.min(Math.ceil(size / 8), maxTried)));
  }
  const full = [];
  for (const { shape } of worst(small).slice(0, slowest)) {
    let result = await measured(shape, size);
    // The first time compiles; a busy processor may make another one slower.
    for (let tries = 1; tries < 3 && result.ms >= limit; tries += 1) result = await measured(shape, size);
    full.push(result);
  }
  const [first = { ms: 0, input: '' }] = worst(full);
  return { ms: first.ms, input: first.input };
}

type Shape = (length: number) => string;

/** Each unit over and over, for an equal share of the input, between a beginning and an end. */
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
 * The longest that another request waits while `act` goes on: two turns of the event loop, in one of which it is read and
 * in the next answered at the latest. In milliseconds of this thread's CPU, so other programs do not count.
 */
export async function longestWait(act: () => unknown): Promise<number> {
  let longest = 0;
  let acting = true;
  let [before, turn] = [cpuTime(), cpuTime()];
  const look = () => {
    const now = cpuTime();
    longest = Math.max(longest, now - before);
    [before, turn] = [turn, now];
    if (acting) setImmediate(look).unref();
  };
  // Without a reference it does not keep the loop turning while nothing happens.
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
