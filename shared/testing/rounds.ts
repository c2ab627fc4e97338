/** `make test-long` sets LONG. */
const long = process.env.LONG === '1';

/** The number of repetitions in a test: `long` in `make test-long`, `short` in other runs. */
export function rounds(counts: { short: number; long: number }): number {
  return counts[long ? 'long' : 'short'];
}
