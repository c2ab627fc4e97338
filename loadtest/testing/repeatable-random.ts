/** The same numbers from 0 to 1 in every run (Park and Miller 1988), for tests of what holds in most cases only. */
export function repeatableRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 16_807) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
