/** `make test-long` sets LONG. */
const long = process.env.LONG === '1';

/** How often a test repeats its work: `long` times in `make test-long`, `short` times in other runs. */
export function rounds(counts: { short: number; long: number }): number {
  return counts[long ? 'long' : 'short'];
}
