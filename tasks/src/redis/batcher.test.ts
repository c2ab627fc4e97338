import { expect, test } from 'vitest';
import { createBatcher } from './batcher.ts';

/** Answers each key in capitals; tells how they came. */
function shouting() {
  const asked: (readonly string[])[] = [];
  const ask = createBatcher(async (keys: readonly string[]) => {
    asked.push(keys);
    if (keys.includes('fault')) throw new Error('away');
    return keys.map((key) => key.toUpperCase());
  });
  return { asked, ask };
}

test('what is asked in one turn is asked together, and each gets its own answer', async () => {
  const { asked, ask } = shouting();
  expect(await Promise.all([ask('a'), ask('b')])).toEqual(['A', 'B']);
  expect(await ask('c')).toBe('C');
  expect(asked).toEqual([['a', 'b'], ['c']]);
});

test('a fault is one for all who asked together, and for nobody else', async () => {
  const { ask } = shouting();
  const ends = await Promise.allSettled([ask('a'), ask('fault')]);
  expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await ask('b')).toBe('B');
});
