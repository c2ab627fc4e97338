import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { testExpander } from '../../testing/expander.ts';
import { type Lookup, sharedLookup } from './shared-lookup.ts';

const all = { all: true } as const;

/** A name server that answers when it is told to. */
function nameServer() {
  const asked: { name: string; answer: () => void }[] = [];
  const lookup: Lookup = (name, _, callback) =>
    void asked.push({ name, answer: () => callback(null, [{ address: '93.184.216.34', family: 4 }]) });
  return { asked, lookup };
}

describe('name look-ups', () => {
  test('of one name are one, for all who wait for it', () => {
    const { asked, lookup } = nameServer();
    const shared = sharedLookup(lookup);
    const told: unknown[] = [];
    for (let i = 0; i < 3; i += 1) shared('a.example', all, (_, [first]) => told.push(first?.address));
    expect(asked.map(({ name }) => name)).toEqual(['a.example']);
    asked[0]?.answer();
    expect(told).toEqual(Array(3).fill('93.184.216.34'));
    shared('a.example', all, () => {});
    expect(asked).toHaveLength(2);
  });

  test('are at most 256; the next is overloaded, until one is answered', () => {
    const { asked, lookup } = nameServer();
    const shared = sharedLookup(lookup);
    const errors: unknown[] = [];
    for (let i = 0; i < 257; i += 1) shared(`${i}.example`, all, (error) => errors.push(error));
    expect(asked).toHaveLength(256);
    expect(errors).toEqual([expect.objectContaining({ code: 'overloaded' })]);
    asked[0]?.answer();
    shared('x.example', all, () => {});
    expect(asked).toHaveLength(257);
  });

  test('stay counted when nobody waits for them any more, which makes the next expansion overloaded', async () => {
    const { asked, lookup } = nameServer();
    const metrics = new Registry();
    const { expand } = testExpander({ lookup, metrics });
    const leave = new AbortController();
    const left = Array.from({ length: 256 }, (_, i) =>
      expand.trace(`http://${i}.example/`, { signal: leave.signal }),
    );
    await expect.poll(() => asked.length).toBe(256);
    leave.abort();
    await Promise.all(left);
    await expect.poll(() => metrics.metrics()).toMatch(/^expander_expansions_in_flight 0$/m);
    expect(await metrics.metrics()).toMatch(/^expander_lookups_in_flight 256$/m);
    expect((await expand.trace('http://x.example/')).error).toMatchObject({ code: 'overloaded' });
    for (const { answer } of asked) answer();
    expect(await metrics.metrics()).toMatch(/^expander_lookups_in_flight 0$/m);
  });
});
