import { expect, test } from 'vitest';
import { coalesce } from './coalesce.ts';

test('calls during a run share the next run', async () => {
  const answers: (() => void)[] = [];
  const ask = coalesce(() => {
    const { promise, resolve } = Promise.withResolvers<number>();
    const number = answers.push(() => resolve(number));
    return promise;
  });
  const first = ask();
  const others = [ask(), ask(), ask()];
  expect(answers).toHaveLength(1);
  answers[0]?.();
  expect(await first).toBe(1);
  await expect.poll(() => answers).toHaveLength(2);
  answers[1]?.();
  expect(await Promise.all(others)).toEqual([2, 2, 2]);
  const later = ask();
  answers[2]?.();
  expect(await later).toBe(3);
});

test('waiting calls fail with the current run; later calls start a new one', async () => {
  let runs = 0;
  const ask = coalesce(async () => {
    runs += 1;
    if (runs === 1) throw new Error('away');
    return 'here';
  });
  const asked = await Promise.allSettled([ask(), ask(), ask()]);
  expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(runs).toBe(1);
  expect(await ask()).toBe('here');
});
