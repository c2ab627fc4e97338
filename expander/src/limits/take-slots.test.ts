import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { responseWith } from '../../testing/response.ts';
import { cacheHopResponses } from '../cache/hop-responses.ts';
import { followRedirects } from '../expansion/chain.ts';
import { aborted } from '../expansion/errors.ts';
import type { ExpandOptions, FetchHop, HopResponse } from '../expansion/expansion.ts';
import { readTarget } from '../expansion/target.ts';
import { singleFlight } from './single-flight.ts';
import { createSlots } from './slots.ts';
import { takeSlots } from './take-slots.ts';

/** Creates an expander whose requests wait for `end`. `requested` lists the paths of its requests. */
function expander(limits: Parameters<typeof createSlots>[0] = { atOrigin: 1 }) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const requested: string[] = [];
  const ends = new Map<string, (response: HopResponse) => void>();
  let waiting = 0;
  const gauge = { inc: () => void ++waiting, dec: () => void --waiting };
  const slots = createSlots(limits);
  const request: FetchHop = ({ pathname }, { chain: { signal } }) => {
    requested.push(pathname);
    return new Promise((resolve, reject) => {
      ends.set(pathname, resolve);
      signal?.addEventListener('abort', () => reject(aborted(signal.reason)));
    });
  };
  const fetchHop = cacheHopResponses(takeSlots(gauge, slots))(request);
  const follow = singleFlight(followRedirects(fetchHop));
  const settled = () => vi.advanceTimersByTimeAsync(0);
  return {
    requested,
    waiting: () => waiting,
    slots,
    settled,
    async expand(path: string, options: Partial<ExpandOptions> = {}) {
      const target = readTarget(`http://a.example/${path}`);
      const expansion = await follow(target, { follow: 'default', maxRedirect: 5, client: 'a', ...options });
      return { code: expansion.end.code, times: expansion.hops.map(({ milliseconds }) => milliseconds) };
    },
    async end(path: string, facts: Partial<HopResponse> = {}) {
      await settled();
      ends.get(`/${path}`)?.(responseWith(facts));
      await settled();
    },
    pass: (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds),
  };
}

const lasting = { freshUntil: Number.POSITIVE_INFINITY };

describe('a hop that waits for a slot', () => {
  test('uses a response that another chain has cached in the meantime', async () => {
    const { expand, end, requested } = expander();
    const [first, second] = [expand('page#1'), expand('page#2')];
    await end('page', lasting);
    expect([(await first).code, (await second).code, requested]).toEqual(['final', 'final', ['/page']]);
  });

  test('leaves the queue when its client disconnects', async () => {
    const { expand, end, settled, requested, waiting, slots } = expander();
    const client = new AbortController();
    const first = expand('first');
    await settled();
    const left = expect(expand('left', { signal: client.signal })).rejects.toMatchObject({ code: 'aborted' });
    await settled();
    expect(waiting()).toBe(1);
    client.abort();
    await left;
    expect([waiting(), slots.isEmpty()]).toEqual([0, true]);
    await end('first');
    await first;
    expect(requested).toEqual(['/first']);
  });

  test('starts its timeout and duration once it has a slot', async () => {
    const { expand, end, pass } = expander();
    expand('first');
    const second = expand('second');
    await pass(2_000);
    await end('first');
    await pass(2_500);
    await end('second');
    expect(await second).toEqual({ code: 'final', times: [2_500] });
  });
});

describe('a single request', () => {
  test('fails with overloaded after waiting 3 s for a slot', async () => {
    const { expand, end, pass, requested } = expander();
    const others = [expand('1', { client: 'b' }), expand('2', { client: 'b' })];
    await pass(10);
    const refused = expect(expand('shared')).rejects.toMatchObject({ code: 'overloaded' });
    const line = expand('shared', { list: 1 });
    await pass(2_900);
    await end('1');
    await pass(100);
    await refused;
    await end('2');
    await end('shared');
    expect((await line).code).toBe('final');
    await Promise.all(others);
    expect(requested).toEqual(['/1', '/2', '/shared']);
  });

  test('fails with overloaded after 8 s if any hop waited for a slot', async () => {
    const { expand, end, pass } = expander({ atOrigin: 2 });
    const [slow, other] = [expand('1'), expand('other')];
    const waited = expect(expand('w1')).rejects.toMatchObject({ code: 'overloaded' });
    await pass(100);
    await end('other');
    await other;
    for (const [hop, next] of [
      [1, 2],
      [2, 3],
    ]) {
      await pass(2_600);
      await end(`${hop}`, { status: 301, location: `${next}` });
      await end(`w${hop}`, { status: 301, location: `w${next}` });
    }
    await pass(2_700);
    await waited;
    expect((await slow).code).toBe('timeout');
  });
});

describe('a client that joins an expansion with a waiting hop', () => {
  test('provides a slot for the hop', async () => {
    const { expand, settled, requested } = expander({ ofClientAtOrigin: 1 });
    for (const path of ['first', 'shared']) expand(path);
    await settled();
    expect(requested).toEqual(['/first']);
    expand('shared', { client: 'b' });
    await settled();
    expect(requested).toEqual(['/first', '/shared']);
  });

  test('provides no slot after it disconnects', async () => {
    const { expand, end, settled, requested } = expander({ atOrigin: 2, ofClientAtOrigin: 1 });
    const client = new AbortController();
    for (const path of ['first', 'shared']) expand(path);
    expand('other', { client: 'c' });
    const left = expect(expand('shared', { client: 'b', signal: client.signal })).rejects.toThrow();
    await settled();
    client.abort();
    await left;
    await end('other');
    expect(requested).toEqual(['/first', '/other']);
  });
});

test('128 lists for one slow website each receive a line within 30 s', async () => {
  const { expand, end, pass, requested } = expander({});
  const ended = new Set<number>();
  for (let list = 0; list < 128; list += 1) {
    for (let line = 0; line < 16; line += 1) {
      const expansion = expand(`${list}-${line}-1`, { client: `client ${list % 8}`, list });
      expansion.then(() => ended.add(list));
    }
  }
  for (let time = 0; time < 30_000; time += 2_600) {
    const pages = requested.splice(0);
    await pass(2_600);
    for (const path of pages) {
      const [, list, line, hop] = /(\d+)-(\d+)-(\d)/.exec(path) ?? [];
      const next = `${list}-${line}-${Number(hop) + 1}`;
      await end(path.slice(1), hop === '3' ? {} : { status: 301, location: next });
    }
  }
  expect(ended.size).toBe(128);
});
