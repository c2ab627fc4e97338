import { describe, expect, test } from 'vitest';
import { endedExpansion } from '../expansion/chain.ts';
import { ExpansionError } from '../expansion/errors.ts';
import type { ExpandOptions, Expansion, Hop } from '../expansion/expansion.ts';
import { readTarget } from '../expansion/target.ts';
import { singleFlight } from './single-flight.ts';

const done = endedExpansion('http://a.example/', { code: 'final', message: '' });
const hops = ['http://a.example/1', 'http://a.example/2'].map((url) => ({ url }) as Hop);

/** Creates a single-flight layer whose expansions wait for `end`. `started` lists their options. */
function expanding() {
  const end = Promise.withResolvers<Expansion>();
  const started: ExpandOptions[] = [];
  const followRedirects = singleFlight((_, options) => {
    started.push(options);
    return end.promise;
  });
  return {
    end,
    started,
    emit: (hop?: Hop) => hop && started.at(-1)?.onHop?.(hop),
    expand: (options: Partial<ExpandOptions> = {}) =>
      followRedirects(readTarget('http://a.example/'), { follow: 'default', maxRedirect: 5, ...options }),
  };
}

describe('an expansion', () => {
  test('is shared by identical requests while it runs', async () => {
    const { expand, started, end } = expanding();
    const shared = [expand(), expand()];
    end.resolve(done);
    expect(await Promise.all(shared)).toEqual([done, done]);
    expect(started).toHaveLength(1);
    await expand();
    expect(started).toHaveLength(2);
  });

  test('replays its hops to requests that join late', async () => {
    const { expand, emit, end } = expanding();
    const early: Hop[] = [];
    const late: Hop[] = [];
    const first = expand({ onHop: (hop) => early.push(hop) });
    emit(hops[0]);
    const second = expand({ onHop: (hop) => late.push(hop) });
    emit(hops[1]);
    end.resolve(done);
    await Promise.all([first, second]);
    expect([early, late]).toEqual([hops, hops]);
  });

  test('stops only when all its clients have disconnected', async () => {
    const { expand, started, end } = expanding();
    const [one, two] = [new AbortController(), new AbortController()];
    const first = expand({ signal: one.signal });
    const second = expand({ signal: two.signal });
    one.abort();
    await expect(first).rejects.toMatchObject({ code: 'aborted' });
    expect(started[0]?.signal?.aborted).toBe(false);
    two.abort(new ExpansionError('timeout', 'Time is up.'));
    await expect(second).rejects.toMatchObject({ code: 'timeout' });
    expect(started[0]?.signal?.aborted).toBe(true);
    const again = expand();
    expect(started).toHaveLength(2);
    end.resolve(done);
    expect(await again).toBe(done);
  });

  test('rejects a request that is already aborted', async () => {
    const { expand, started } = expanding();
    await expect(expand({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'aborted' });
    expect(started[0]?.signal?.aborted).toBe(true);
  });

  test('fails only for the request whose listener throws', async () => {
    const { expand, started, emit, end } = expanding();
    const seen: Hop[] = [];
    const onHop = () => {
      throw new Error('a fault in the template');
    };
    const healthy = expand({ onHop: (hop) => seen.push(hop) });
    const failed = expect(expand({ onHop })).rejects.toThrow('a fault in the template');
    emit(hops[0]);
    await failed;
    await expect(expand({ onHop })).rejects.toThrow('a fault in the template');
    emit(hops[1]);
    end.resolve(done);
    expect([await healthy, seen, started.length]).toEqual([done, hops, 1]);
  });

  test('rejects the 257th waiting request of a client', async () => {
    const { expand, end } = expanding();
    const waiting = Array.from({ length: 256 }, () => expand({ client: 'a' }));
    await expect(expand({ client: 'a' })).rejects.toMatchObject({ code: 'overloaded' });
    waiting.push(expand({ client: 'b' }));
    end.resolve(done);
    await Promise.all(waiting);
  });

  test('rejects all its requests if it fails', async () => {
    const { expand, end } = expanding();
    const shared = [expand(), expand()];
    end.reject(new Error('no'));
    expect((await Promise.allSettled(shared)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});
