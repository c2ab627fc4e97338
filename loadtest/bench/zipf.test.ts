import { randomNumbers } from '@longhand/shared/testing/random.ts';
import { expect, test } from 'vitest';
import { hitRate, zipf } from './zipf.ts';

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

test('one link misses once in each lifetime', () => {
  expect(hitRate({ links: 1, perSecond: 100, keys: 1, seconds: 1 })).toBeCloseTo(0.99, 3);
});

test('answers that there is no room for are not hit', () => {
  const traffic = { links: 1_000, perSecond: 1_000, seconds: 60 };
  expect(hitRate({ ...traffic, keys: 1 })).toBeLessThan(0.1);
  expect(hitRate({ ...traffic, keys: 1_000 })).toBeGreaterThan(0.9);
});
