import type { StoreClient } from '@longhand/shared/redis.ts';
import { expect, test } from 'vitest';
import { csrfKey } from './csrf-key.ts';

test('Nobody waits for a known key to be read again, and what was read is used from then on', async () => {
  const stored = [1, 1, 2].map((byte) => Buffer.alloc(32, byte).toString('hex'));
  const replies: (() => void)[] = [];
  const redis = {
    get: () => new Promise((resolve) => replies.push(() => resolve(stored[replies.length - 1]))),
  };
  let now = 0;
  const key = csrfKey(
    redis as unknown as StoreClient,
    () => Buffer.alloc(32, 1),
    () => now,
  );
  const first = key();
  replies[0]?.();
  expect((await first)[0]).toBe(1);

  // The store hangs: two seconds later the key is still there at once.
  now = 2_000;
  expect((await key())[0]).toBe(1);
  expect(replies).toHaveLength(2);
  now = 4_000;
  expect((await key())[0]).toBe(1);
  replies[2]?.();
  await expect.poll(async () => (await key())[0]).toBe(2);
});
