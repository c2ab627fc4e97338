/** Draws one of `links` links, the nth of which is asked for 1/n times as often as the first (Zipf, s = 1). */
export function zipf(links: number, random = Math.random): () => number {
  const sums = new Float64Array(links);
  let sum = 0;
  for (let i = 0; i < links; i += 1) {
    sum += 1 / (i + 1);
    sums[i] = sum;
  }
  return () => {
    const drawn = random() * sum;
    let [low, high] = [0, links - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] as number) < drawn) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}
