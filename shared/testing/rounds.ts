/** `make test-long` sets LONG. */
const long = process.env.LONG === '1';

/** Returns `long` under `make test-long`, otherwise `short`. */
export function rounds(counts: { short: number; long: number }): number {
  return counts[long ? 'long' : 'short'];
}
