import { randomNumbers } from '@longhand/shared/testing/random.ts';
import { expect, test } from 'vitest';
import { zipf } from './zipf.ts';

test('the nth link is drawn 1/n times as often as the first', () => {
  const next = zipf(3, randomNumbers());
  const drawn = [0, 0, 0];
  for (let i = 0; i < 110_000; i += 1) {
    const link = next();
    drawn[link] = (drawn[link] ?? 0) + 1;
  }
  const [first = 0, second = 0, third = 0] = drawn;
  expect(first / second).toBeCloseTo(2, 0);
  expect(first / third).toBeCloseTo(3, 0);
});
