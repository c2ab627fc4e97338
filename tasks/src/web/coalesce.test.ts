import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { coalesce } from './coalesce.ts';

test('calls during a run share the next run', async () => {
  let runs = 0;
  const ask = coalesce(async () => {
    const run = ++runs;
    await setImmediate();
    return run;
  });
  expect(await Promise.all([ask(), ask(), ask(), ask()])).toEqual([1, 2, 2, 2]);
  expect(await ask()).toBe(3);
});

test('waiting calls fail with the current run; later calls start a new run', async () => {
  let runs = 0;
  const ask = coalesce(async () => {
    if (++runs === 1) throw new Error('away');
    return 'here';
  });
  const asked = await Promise.allSettled([ask(), ask(), ask()]);
  expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(runs).toBe(1);
  expect(await ask()).toBe('here');
});
