/** Random seed, chosen in vitest.config.ts and printed by each run. Set `SEED` to repeat a run. */
export const seed = Number(process.env.SEED);

/** Creates a generator of random numbers from 0 (inclusive) to 1 (exclusive), determined by the seed and `stream` (Mulberry32). */
export function randomNumbers(stream = 0): () => number {
  let state = seed + stream;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns the items in random order. */
export function shuffled<T>(items: readonly T[]): T[] {
  const random = randomNumbers();
  const placed = items.map((item) => ({ item, place: random() }));
  return placed.sort((a, b) => a.place - b.place).map(({ item }) => item);
}
