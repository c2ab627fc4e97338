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

interface Traffic {
  links: number;
  perSecond: number;
  /** The answers that the edge has room for; the one that was not asked for longest makes room. */
  keys: number;
  /** How long an answer is kept. */
  seconds: number;
}

/** The share of Zipf's requests that a cache answers, once it is full or has run for twice its lifetime. */
export function hitRate({ links, perSecond, keys, seconds }: Traffic): number {
  const next = zipf(links);
  const expiries = new Map<number, number>();
  const warmUp = 2 * seconds * perSecond;
  const counted = 200_000;
  let hits = 0;
  for (let i = 0; i < warmUp + counted; i += 1) {
    const now = i / perSecond;
    const link = next();
    const expiry = expiries.get(link) ?? 0;
    expiries.delete(link);
    expiries.set(link, expiry > now ? expiry : now + seconds);
    if (expiries.size > keys) expiries.delete(expiries.keys().next().value as number);
    if (i >= warmUp && expiry > now) hits += 1;
  }
  return hits / counted;
}
