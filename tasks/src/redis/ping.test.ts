import { expect, test } from 'vitest';
import { recentPing } from './ping.ts';

test('the store is asked once a second at most, and what it answered counts that long', async () => {
  let now = 0;
  const answers = [Promise.resolve(1), Promise.reject(new Error('away')), Promise.resolve(1)];
  let asked = 0;
  const ping = recentPing({ exists: () => answers[asked++] as Promise<number> }, () => now);
  const outcome = () =>
    ping().then(
      () => 'ready',
      ({ message }: Error) => message,
    );
  expect(await Promise.all([outcome(), outcome()])).toEqual(['ready', 'ready']);
  now = 999;
  expect([await outcome(), asked]).toEqual(['ready', 1]);
  now = 1_000;
  expect([await outcome(), await outcome(), asked]).toEqual(['away', 'away', 2]);
  now = 2_000;
  expect([await outcome(), asked]).toEqual(['ready', 3]);
});
