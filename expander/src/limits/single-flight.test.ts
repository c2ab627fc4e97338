import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { ExpansionError } from '../expansion/errors.ts';
import { createFlights } from './in-flight.ts';

/** Work that is done when told so, and says whether it was stopped. */
function work() {
  const done = Promise.withResolvers<string>();
  const starts: AbortSignal[] = [];
  let tell: (event: number) => void = () => {};
  return {
    done,
    starts,
    tell: (event: number) => tell(event),
    start(signal: AbortSignal, told: (event: number) => void) {
      starts.push(signal);
      tell = told;
      return done.promise;
    },
  };
}

describe('a flight', () => {
  test('is shared by all who ask for the same while it is under way, and flown again afterwards', async () => {
    const join = createFlights<string, number>();
    const { start, starts, done } = work();
    const shared = [join('a', {}, start), join('a', {}, start)];
    done.resolve('done');
    expect(await Promise.all(shared)).toEqual(['done', 'done']);
    expect(starts).toHaveLength(1);
    await join('a', {}, start);
    expect(starts).toHaveLength(2);
  });

  test('tells those who join late what they missed', async () => {
    const join = createFlights<string, number>();
    const { start, tell, done } = work();
    const early: number[] = [];
    const late: number[] = [];
    const first = join('a', { watch: (event) => early.push(event) }, start);
    await Promise.resolve();
    tell(1);
    const second = join('a', { watch: (event) => late.push(event) }, start);
    tell(2);
    done.resolve('');
    await Promise.all([first, second]);
    expect([early, late]).toEqual([
      [1, 2],
      [1, 2],
    ]);
  });

  test('goes on when one of two leaves, and stops when both have left', async () => {
    const join = createFlights<string, number>();
    const { start, starts, done } = work();
    const [one, two] = [new AbortController(), new AbortController()];
    const first = join('a', { signal: one.signal }, start);
    const second = join('a', { signal: two.signal }, start);
    await Promise.resolve();
    one.abort();
    await expect(first).rejects.toMatchObject({ code: 'aborted' });
    expect(starts[0]?.aborted).toBe(false);
    two.abort(new ExpansionError('timeout', 'Time is up.'));
    await expect(second).rejects.toMatchObject({ code: 'timeout' });
    expect(starts[0]?.aborted).toBe(true);
    const anew = join('a', {}, start);
    await Promise.resolve();
    expect(starts).toHaveLength(2);
    done.resolve('done');
    expect(await anew).toBe('done');
  });

  test('whose watcher throws fails for that waiter alone, also when it joins late', async () => {
    const join = createFlights<string, number>();
    const { start, starts, tell, done } = work();
    const seen: number[] = [];
    const fault = () => {
      throw new Error('a fault in the template');
    };
    const healthy = join('a', { watch: (event) => seen.push(event) }, start);
    const faulty = join('a', { watch: fault }, start);
    const failed = expect(faulty).rejects.toThrow('a fault in the template');
    await Promise.resolve();
    tell(1);
    await failed;
    await expect(join('a', { watch: fault }, start)).rejects.toThrow('a fault in the template');
    tell(2);
    done.resolve('done');
    expect([await healthy, seen, starts.length]).toEqual(['done', [1, 2], 1]);
  });

  test('takes at most 1024 who wait, and the next is overloaded', async () => {
    const join = createFlights<string, number>();
    const { start, done } = work();
    const waiting = Array.from({ length: 1_024 }, () => join('a', {}, start));
    await expect(join('a', {}, start)).rejects.toMatchObject({ code: 'overloaded' });
    done.resolve('done');
    await Promise.all(waiting);
  });

  test('that fails fails for all, once', async () => {
    const join = createFlights<string, number>();
    const { start, done } = work();
    const landed = [join('a', {}, start), join('a', {}, start)];
    done.reject(new Error('no'));
    expect((await Promise.allSettled(landed)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});

// In a process of its own, where nothing but flights decides when objects are collected.
test('flights that have ended do not wait for a full collection', async () => {
  const script = `${import.meta.dirname}/../../testing/ended-flights.ts`;
  // Without the environment of the tests: with compiled code from a cache, V8 collects at other times.
  const { stdout } = await promisify(execFile)(process.execPath, [script], { env: {} });
  expect(Number(stdout)).toBeGreaterThan(0);
  expect(Number(stdout)).toBeLessThan(30_000_000);
});
