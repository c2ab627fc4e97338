import { expect, test } from 'vitest';
import { coalesce } from './coalesce.ts';

/** Counts how often it is asked, and answers with that number when told to. */
function counted() {
  const answers: (() => void)[] = [];
  const ask = coalesce(() => {
    const { promise, resolve } = Promise.withResolvers<number>();
    const number = answers.push(() => resolve(number));
    return promise;
  });
  return { ask, answers };
}

test('calls that come while one is under way share the next, which begins after them', async () => {
  const { ask, answers } = counted();
  const first = ask();
  const others = [ask(), ask(), ask()];
  expect(answers).toHaveLength(1);
  answers[0]?.();
  expect(await first).toBe(1);
  await expect.poll(() => answers).toHaveLength(2);
  answers[1]?.();
  expect(await Promise.all(others)).toEqual([2, 2, 2]);
});

test('a call that comes when none is under way is made at once', async () => {
  const { ask, answers } = counted();
  for (const number of [1, 2]) {
    const answer = ask();
    answers[number - 1]?.();
    expect(await answer).toBe(number);
  }
});

test('calls that wait for one that fails fail with it, and wait no second time', async () => {
  let runs = 0;
  const ask = coalesce(async () => {
    runs += 1;
    throw new Error('away');
  });
  const asked = await Promise.allSettled([ask(), ask(), ask()]);
  expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(runs).toBe(1);
});

test('a call that fails keeps none of the later ones from being made', async () => {
  let fails = true;
  const ask = coalesce(async () => {
    if (fails) throw new Error('away');
    return 'here';
  });
  const [first, second] = [ask(), ask()];
  await expect(first).rejects.toThrow('away');
  await expect(second).rejects.toThrow('away');
  fails = false;
  expect(await ask()).toBe('here');
});
