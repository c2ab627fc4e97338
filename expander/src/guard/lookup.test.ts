import { setImmediate } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { testExpander } from '../../testing/expander.ts';
import { type Lookup, sharedLookup } from './lookup.ts';

/** A name server that answers when it is told to. */
function nameServer() {
  const asked: { name: string; answer: () => void }[] = [];
  const lookup: Lookup = (name) =>
    new Promise((resolve) => {
      asked.push({ name, answer: () => resolve([{ address: '93.184.216.34', family: 4 }]) });
    });
  return { asked, lookup };
}

describe('name look-ups', () => {
  test('of one name are one, for all who wait for it', async () => {
    const { asked, lookup } = nameServer();
    const { lookup: shared } = sharedLookup(lookup);
    const lookups = [1, 2, 3].map(() => shared('a.example'));
    expect(asked.map(({ name }) => name)).toEqual(['a.example']);
    asked[0]?.answer();
    expect(await Promise.all(lookups)).toEqual(Array(3).fill([{ address: '93.184.216.34', family: 4 }]));
    shared('a.example');
    expect(asked).toHaveLength(2);
  });

  test('cannot be cancelled, so the expansion of a client that has left lasts until its name is looked up', async () => {
    const { asked, lookup } = nameServer();
    const metrics = new Registry();
    const { expand } = testExpander({ lookup, metrics });
    const leave = new AbortController();
    const expansion = expand.chain('http://a.example/', { signal: leave.signal });
    await expect.poll(() => asked.length).toBe(1);
    leave.abort();
    expect((await expansion).error?.code).toBe('aborted');
    // Whatever ends without the name server has ended after this.
    await setImmediate();
    expect(await metrics.metrics()).toMatch(/^expander_expansions_in_flight 1$/m);
    expect(await metrics.metrics()).toMatch(/^expander_lookups_in_flight 1$/m);
    asked[0]?.answer();
    await expect.poll(() => metrics.metrics()).toMatch(/^expander_expansions_in_flight 0$/m);
    expect(await metrics.metrics()).toMatch(/^expander_lookups_in_flight 0$/m);
  });

  test('of a client that leaves are at most 128 at a time, and no other client waits for them', async () => {
    const { asked, lookup } = nameServer();
    const { expand } = testExpander({ lookup });
    const leave = new AbortController();
    const begin = (client: string, domain: string, signal?: AbortSignal) =>
      Array.from({ length: 200 }, (_, i) => expand.chain(`http://${i}.${domain}/`, { client, signal }));
    const left = begin('a', 'left.example', leave.signal);
    await expect.poll(() => asked.length).toBe(128);
    leave.abort();
    await Promise.all(left);
    begin('a', 'next.example');
    begin('b', 'other.example');
    await expect.poll(() => asked.length).toBe(256);
    expect(asked.slice(128).every(({ name }) => name.endsWith('other.example'))).toBe(true);
  });
});
