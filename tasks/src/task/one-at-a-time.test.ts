import { expect, test } from 'vitest';
import { oneAtATime } from './one-at-a-time.ts';

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
