import { setImmediate } from 'node:timers/promises';
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
    const { lookup: shared } = sharedLookup(lookup);
    const told: unknown[] = [];
    for (let i = 0; i < 3; i += 1) shared('a.example', all, (_, [first]) => told.push(first?.address));
    expect(asked.map(({ name }) => name)).toEqual(['a.example']);
    asked[0]?.answer();
    expect(told).toEqual(Array(3).fill('93.184.216.34'));
    shared('a.example', all, () => {});
    expect(asked).toHaveLength(2);
  });

  test('cannot be cancelled, so the expansion of a client that has left lasts until its name is looked up', async () => {
    const { asked, lookup } = nameServer();
    const metrics = new Registry();
    const { expand } = testExpander({ lookup, metrics });
    const leave = new AbortController();
    const expansion = expand.trace('http://a.example/', { signal: leave.signal });
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
});
