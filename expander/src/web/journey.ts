import type { Expansion } from '../expansion/expansion.ts';
import { registrableDomain } from '../expansion/host.ts';
import { list } from './wording.ts';

/** Sites that are named one by one; of more, only how many they are. */
const maxNamed = 3;

/** A page, or a response that does not redirect: the chain ends there. */
const arrived = new Set(['final', 'no_location', 'malformed_location', 'unsupported_scheme']);

/**
 * The way in one sentence, such as `The link leaves bit.ly, passes t.co and ends at example.com.` A site is a registrable
 * domain. What the sites in between do there, such as tracking, cannot be seen: they are only named.
 *
 * @returns undefined if the link leads nowhere else.
 */
export function journey({ hops, longUrl, redirectCount, end }: Expansion): string | undefined {
  const [first] = hops;
  if (!first || !longUrl || redirectCount === 0 || end.code === 'loop') return undefined;
  const from = registrableDomain(new URL(first.url));
  const to = registrableDomain(new URL(longUrl));
  const passed = new Set(hops.map(({ url }) => registrableDomain(new URL(url))));
  passed.delete(from);
  passed.delete(to);
  const isBack = from === to;
  if (isBack && passed.size === 0) return `The link stays at ${from}.`;
  const steps = [`leaves ${from}`];
  if (passed.size > 0) steps.push(`passes ${named([...passed])}`);
  steps.push(isBack ? 'comes back there' : `${arrived.has(end.code) ? 'ends at' : 'leads to'} ${to}`);
  return `The link ${list(steps)}.`;
}

function named(sites: string[]): string {
  return sites.length > maxNamed ? `${sites.length} other sites` : list(sites);
}
