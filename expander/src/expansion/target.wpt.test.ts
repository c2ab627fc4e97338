import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { percentEncoded } from '../hop/fetch-hop.ts';
import { ExpansionError } from './errors.ts';
import { isWeb, readTarget, resolveLocation } from './target.ts';

type Case = { input: string; base: string | null };

const file = `${import.meta.dirname}/../../testing/wpt/urltestdata.json`;
const cases = (JSON.parse(readFileSync(file, 'utf8')) as (Case | string)[]).filter(
  (entry) => typeof entry !== 'string',
);

/** Hosts that the URL parser accepts although they cannot exist. */
const impossibleHosts = ['!"$&\'()*+,-.;=_`{}~'];

/** Resolves `reference` like a browser; null if its host cannot exist. */
function parsed(reference: string, base?: string): URL | null {
  const url = URL.parse(reference, base);
  return url && isWeb(url) && impossibleHosts.includes(url.hostname) ? null : url;
}

/** Returns what `readTarget` should return for `url`: its href or the code of its error. */
function resultFor(url: URL | null): string {
  if (url === null) return 'invalid_url';
  return isWeb(url) ? url.href : 'unsupported_scheme';
}

test('the test data is complete and contains every impossible host', () => {
  expect(cases).toHaveLength(820);
  const hosts = new Set(cases.map(({ input, base }) => URL.parse(input, base ?? undefined)?.hostname));
  for (const host of impossibleHosts) expect(hosts).toContain(host);
});

test('readTarget agrees with the URL parser on every valid URL', () => {
  const differences = cases.flatMap(({ input }) => {
    if (!URL.canParse(input)) return [];
    const expected = resultFor(parsed(input));
    const ours = read(input);
    return ours === expected ? [] : [{ input, ours, expected }];
  });
  expect(differences).toEqual([]);
});

test('readTarget accepts an invalid URL only by adding `http://`', () => {
  for (const { input } of cases) {
    if (URL.canParse(input)) continue;
    const ours = read(input);
    if (ours !== 'invalid_url')
      expect([`http://${input.trim()}`, `http:${input.trim()}`].map(hrefOf)).toContain(ours);
  }
});

test('resolveLocation agrees with the URL parser on every location', () => {
  const differences = cases.flatMap((entry) => {
    // Use the base of the test case if it can be a website's URL.
    const base = /^https?:\/\/\w/.test(entry.base ?? '') ? `${entry.base}` : 'http://example.org/foo/bar';
    const sent = Buffer.from(entry.input).toString('latin1');
    const ours = resolveLocation(percentEncoded(sent) ?? '', readTarget(base))?.url.href;
    const expected = inheriting(parsed(entry.input, base), base)?.href;
    return ours === expected ? [] : [{ ...entry, ours, expected }];
  });
  expect(differences).toEqual([]);
});

function read(input: string): string {
  try {
    return readTarget(input).url.href;
  } catch (error) {
    if (error instanceof ExpansionError) return error.code;
    throw error;
  }
}

const hrefOf = (input: string) => URL.parse(input)?.href;

/** Adds the fragment of the base to a `Location` without a fragment (RFC 9110 section 10.2.2). */
function inheriting(url: URL | null, base: string): URL | null {
  const { hash } = new URL(base);
  return !url || !isWeb(url) || url.href.includes('#') || hash === '' ? url : new URL(url.href + hash);
}
