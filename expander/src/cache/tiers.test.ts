import { expect, test } from 'vitest';
import { memoryTier } from './caches.ts';

test('the memory tier keeps at most 32 MiB of text, and drops what was used least recently', async () => {
  const tier = memoryTier();
  const entry = 'x'.repeat(64 * 1024);
  const expiresAt = Date.now() + 60_000;
  for (let i = 0; i < 1_000; i += 1) tier.set(`key ${i}`, entry, expiresAt);
  const kept = await Promise.all(Array.from({ length: 1_000 }, (_, i) => tier.get(`key ${i}`)));
  const size = kept.reduce((sum, text) => sum + (text?.length ?? 0), 0);
  expect(size).toBeLessThanOrEqual(32 * 1024 ** 2);
  expect(size).toBeGreaterThan(31 * 1024 ** 2);
  expect([kept[0], kept[999]]).toEqual([null, entry]);
});
