import { expect, test } from 'vitest';
import { hitRate } from '../bench/zipf.ts';
import { shares, tiers } from './hit-rates.ts';

const traffic = { links: 2_000, perSecond: 500, replicas: 1 };

test('the same seed gives the same shares, which make up all requests', () => {
  const found = shares(traffic);
  expect(shares(traffic)).toEqual(found);
  expect(Object.values(found).reduce((sum, share) => sum + share)).toBeCloseTo(1);
});

test('the edge alone answers what the simulation of the edge says, which a real run is held to', () => {
  const { seconds, keys } = tiers.edge;
  const { edge } = shares(traffic);
  expect(Math.abs(edge - hitRate({ links: traffic.links, perSecond: 500, keys, seconds }))).toBeLessThan(
    0.03,
  );
});

test('without room nothing is answered from a cache; with room for all links, websites answer nothing', () => {
  const none = { keys: 0, seconds: 30 };
  expect(shares(traffic, { edge: none, memory: none, redis: none }).website).toBe(1);
  expect(shares(traffic).website).toBeLessThan(0.001);
});

test('more replicas remember more', () => {
  const small = { ...tiers, memory: { keys: 100, seconds: 4_200 } };
  expect(shares({ ...traffic, replicas: 4 }, small).memory).toBeGreaterThan(shares(traffic, small).memory);
});
