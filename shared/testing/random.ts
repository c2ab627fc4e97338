/** The seed of random inputs. vitest.config.ts picks it, the run prints it, and `SEED=…` repeats it. */
export const seed = Number(process.env.SEED);

/** Random numbers from 0 (inclusive) to 1, the same for each run with this seed and `stream` (Mulberry32). */
export function randomNumbers(stream = 0): () => number {
  let state = seed + stream;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The items in a random order. */
export function shuffled<T>(items: readonly T[]): T[] {
  const random = randomNumbers();
  const placed = items.map((item) => ({ item, place: random() }));
  return placed.sort((a, b) => a.place - b.place).map(({ item }) => item);
}
