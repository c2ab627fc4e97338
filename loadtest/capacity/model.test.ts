import { describe, expect, test } from 'vitest';
import { costSteps, costsOf, fit } from './costs.ts';
import { type Capacity, type Costs, causesIn, coresFor, limitsOf, mixes, sizeFor } from './model.ts';
import type { Step } from './step.ts';

const nothing = { running: 0, wakes: 0, hot: 0, cold: 0, list: 0, writes: 0, changedLists: 0 };
const costs: Costs = {
  proxy: { ...nothing, running: 10_000, hot: 40, cold: 50, list: 60, writes: 50 },
  expander: { ...nothing, running: 20_000, wakes: 1_000, cold: 400 },
  'expander-cache': { ...nothing, running: 4_000, cold: 30 },
  tasks: { ...nothing, running: 20_000, wakes: 1_000, list: 100, writes: 150, changedLists: 600 },
  'tasks-store': { ...nothing, running: 4_000, list: 10, writes: 100 },
};
const latency = { hot: 1, cold: 5, list: 2, writes: 3 };
const MiB = 2 ** 20;
const capacity = {
  costs,
  latency,
  machine: {},
  memory: { proxy: 20 * MiB, expander: 100 * MiB, 'expander-cache': 12 * MiB },
  sockets: { proxy: 100, expander: 40, 'expander-cache': 10 },
} as unknown as Capacity;

test('the shares of each mix are all of it', () => {
  for (const mix of Object.values(mixes)) expect(Object.values(mix).reduce((a, b) => a + b)).toBeCloseTo(1);
});

test('a mix costs what its requests cost, what running costs each replica, and being woken up', () => {
  const mix = { hot: 0.5, cold: 0.5, list: 0, writes: 0 };
  expect(coresFor(costs, mix, 1_000, { tasks: 2 })).toMatchObject({
    proxy: expect.closeTo(0.055),
    // Of 500 requests 500 × 100 / (500 + 100) find it asleep.
    expander: expect.closeTo(0.22 + 0.083),
    'expander-cache': expect.closeTo(0.019),
    tasks: expect.closeTo(0.04),
  });
});

test('writes make the list anew, in each replica, but no more often than it is asked for', () => {
  const mix = { hot: 0, cold: 0, list: 0.9, writes: 0.1 };
  const { list, writes, changedLists } = causesIn('tasks', mix, 1_000);
  expect([list, writes, changedLists]).toEqual([900, 100, 90]);
  expect(causesIn('tasks', mix, 1_000, { tasks: 2 }).changedLists).toBeCloseTo(163.6, 1);
  expect(causesIn('tasks', { ...mix, writes: 0 }, 1_000).changedLists).toBe(0);
});

test('costs are told from steps', () => {
  const steps = costSteps.map(({ mix, rate }) => ({
    ...{ mix, rate, latency },
    cores: { ...coresFor(costs, mix, rate), k6: 0.5, shortener: 0.1 },
  })) as unknown as Step[];
  const found = costsOf(steps);
  expect(Object.keys(found.costs)).toEqual(Object.keys(costs));
  for (const mix of Object.values(mixes)) {
    const [told, right] = [coresFor(found.costs, mix, 400), coresFor(costs, mix, 400)];
    for (const [name, cores] of Object.entries(right)) expect(told[name], name).toBeCloseTo(cores, 2);
  }
  expect(found.latency).toEqual(latency);
});

test('no cost is negative, where noise would have it so', () => {
  const [fixed, slope] = fit(
    [
      [1, 100],
      [1, 200],
    ],
    [0.1, 0.05],
  ) as [number, number];
  expect(slope).toBe(0);
  expect(fixed).toBeGreaterThan(0.05);
});

test('limits are the rates at which a core, or the machine, is full', () => {
  const used = { proxy: 0.5, expander: 0.8, k6: 0.5, shortener: 0 };
  expect(limitsOf(used, 1_000, ['proxy', 'expander'], 2)).toEqual([
    { name: "this machine's 2 cores", rate: expect.closeTo(1_111, 0) },
    { name: 'expander', rate: 1_250 },
    { name: 'proxy', rate: 4_000 },
  ]);
});

describe('make size', () => {
  const mix = { hot: 0.9, cold: 0.1, list: 0, writes: 0 };
  const need = (rate: number, part: string) =>
    sizeFor(capacity, mix, rate).find((need) => need.part === part);

  test('gives each service replicas of which none is busier than 70 %', () => {
    expect(need(20_000, 'expander')).toMatchObject({
      cores: expect.closeTo(0.04 + 0.182 + 0.8),
      count: 2,
      memory: 200 * MiB,
    });
    expect(need(20_000, 'proxy')).toMatchObject({ cores: expect.closeTo(0.84), count: 2, memory: 20 * MiB });
  });

  test('counts a socket on either side of nginx for each request in flight', () => {
    // 18,000 × 1 ms and 2,000 × 5 ms are 28 requests in flight.
    expect(need(20_000, 'proxy')?.sockets).toBe(100 + 2 * 28);
  });

  test('says where Redis is the limit, of which there is one', () => {
    expect(need(20_000, 'expander-cache')).toMatchObject({ count: 1, note: '' });
    expect(need(400_000, 'expander-cache')).toMatchObject({
      count: 1,
      note: expect.stringContaining('one Redis cannot'),
    });
  });

  test('leaves out what a load does not touch', () => {
    expect(need(20_000, 'tasks')).toBeUndefined();
  });
});
