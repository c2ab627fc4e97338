/** `make test-long` sets it. */
const long = process.env.LONG === '1';

/**
 * How often a test repeats what it does, with the same assertions: `long` times in `make test-long`, `short` times in
 * any other run.
 */
export function rounds(counts: { short: number; long: number }): number {
  return counts[long ? 'long' : 'short'];
}
