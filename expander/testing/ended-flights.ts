import { Session } from 'node:inspector/promises';
import type { Expansion } from '../src/expansion/expansion.ts';
import { readTarget } from '../src/expansion/target.ts';
import { singleFlight } from '../src/limits/single-flight.ts';

/** Prints the bytes that outlived the collections of young objects after 60,000 flights with some 100 MB in all. */
const unshorten = singleFlight(async () => {
  const result = Array.from({ length: 200 }, (_, i) => i);
  await new Promise(setImmediate);
  return result as unknown as Expansion;
});
const target = readTarget('http://a.example/');
let flown = 0;
async function flyOn(): Promise<void> {
  while (flown < 60_000) {
    flown += 1;
    await unshorten({ ...target, text: `${flown}` }, { follow: 'default', maxRedirect: 5 });
  }
}
const session = new Session();
session.connect();
const options = { samplingInterval: 16_384, includeObjectsCollectedByMajorGC: true };
await session.post('HeapProfiler.startSampling', options);
await Promise.all(Array.from({ length: 50 }, flyOn));
const { profile } = await session.post('HeapProfiler.stopSampling');
const kept = (node: typeof profile.head): number =>
  node.children.reduce((sum, child) => sum + kept(child), node.selfSize);
console.log(kept(profile.head));
