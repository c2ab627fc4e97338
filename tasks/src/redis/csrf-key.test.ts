import { expect, test, vi } from 'vitest';
import { useStore } from '../../testing/store.ts';
import { csrfKey } from './csrf-key.ts';
import { keys } from './keys.ts';

const kept = useStore();

test('An emptied store gets the known key again, so open forms stay valid', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const key = csrfKey(kept.redis);
  const known = await key();
  await kept.empty();
  vi.advanceTimersByTime(2_000);
  await key();
  await expect.poll(() => kept.redis.get(keys.csrfKey)).toBe(known.toString('hex'));
  vi.useRealTimers();
});
