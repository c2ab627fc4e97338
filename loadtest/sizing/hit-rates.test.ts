import { expect, test } from 'vitest';
import { hitRate, shares, tiers } from './hit-rates.ts';

const traffic = { links: 2_000, perSecond: 500, replicas: 1 };
/** With room for all links, so that few requests warm them. */
const small = { ...tiers, memory: { keys: 2_000, seconds: 4_200 }, redis: { keys: 3_000, seconds: 4_200 } };
const simulate = (sizes = small, replicas = 1) => shares({ ...traffic, replicas }, sizes, 50_000);

test('the same seed gives the same shares, which make up all requests', () => {
  const found = simulate();
  expect(simulate()).toEqual(found);
  expect(Object.values(found).reduce((sum, share) => sum + share)).toBeCloseTo(1);
});

test('the edge answers as much alone as with caches behind it', () => {
  const { seconds, keys } = tiers.edge;
  const { edge } = simulate();
  expect(Math.abs(edge - hitRate({ links: traffic.links, perSecond: 500, keys, seconds }))).toBeLessThan(
    0.03,
  );
});

test('without room nothing is answered from a cache; with room for all links, websites answer nothing', () => {
  const none = { keys: 0, seconds: 30 };
  expect(simulate({ edge: none, memory: none, redis: none }).website).toBe(1);
  expect(simulate().website).toBeLessThan(0.01);
});

test('more replicas remember more', () => {
  const forgetful = { ...small, edge: { keys: 0, seconds: 30 }, memory: { keys: 100, seconds: 4_200 } };
  expect(simulate(forgetful, 4).memory).toBeGreaterThan(simulate(forgetful).memory);
});

test('one link misses once in each lifetime', () => {
  expect(hitRate({ links: 1, perSecond: 100, keys: 1, seconds: 1 })).toBeCloseTo(0.99, 3);
});

test('answers that there is no room for are not hit', () => {
  const traffic = { links: 1_000, perSecond: 1_000, seconds: 60 };
  expect(hitRate({ ...traffic, keys: 1 })).toBeLessThan(0.1);
  expect(hitRate({ ...traffic, keys: 1_000 })).toBeGreaterThan(0.9);
});
