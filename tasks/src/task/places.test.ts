import { expect, test, vi } from 'vitest';
import { createPlaces, oneAtATime } from './places.ts';

/** Returns calls that run until `end` is called with their name. `started` lists the calls in the order they started. */
function calls() {
  const run = oneAtATime();
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    started,
    call: (client: string, name: string) =>
      run(client, () => {
        started.push(name);
        return new Promise<void>((resolve) => ends.set(name, resolve));
      }),
    end: (name: string) => ends.get(name)?.(),
  };
}

test('each call of a client waits for the one before', async () => {
  const { call, end, started } = calls();
  const first = call('a', 'first');
  const second = call('a', 'second');
  await expect.poll(() => started).toEqual(['first']);
  end('first');
  await first;
  await expect.poll(() => started).toEqual(['first', 'second']);
  call('a', 'third');
  const other = call('b', 'other');
  await expect.poll(() => started).toContain('other');
  end('other');
  await other;
  expect(started).toEqual(['first', 'second', 'other']);
  end('second');
  await second;
  await expect.poll(() => started).toEqual(['first', 'second', 'other', 'third']);
});

test('a failed call does not stop the next one', async () => {
  const run = oneAtATime();
  const failed = run('a', () => Promise.reject(new Error('failed')));
  const next = run('a', async () => 'next');
  await expect(failed).rejects.toThrow('failed');
  expect(await next).toBe('next');
});

test('a client has two places, and its third call waits until one is free', async () => {
  const place = createPlaces(2);
  const [first] = await Promise.all([place('a'), place('a')]);
  const third = vi.fn();
  place('a').then(third);
  await place('b');
  expect(third).not.toHaveBeenCalled();
  first();
  first();
  await expect.poll(() => third.mock.calls.length).toBe(1);
  const fourth = vi.fn();
  place('a').then(fourth);
  await place('b');
  expect(fourth).not.toHaveBeenCalled();
});
