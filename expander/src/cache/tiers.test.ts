import { expect, test } from 'vitest';
import type { Expansion } from '../expansion/expansion.ts';
import { memoryTier } from './caches.ts';

test.each([
  ['one byte', 'x', 1],
  ['two bytes', '\u0457', 2],
])(
  'the memory tier keeps 32 MiB of characters of %s, and drops what was used least recently',
  (_, character, bytes) => {
    const { set, get } = memoryTier();
    const keys = Array.from({ length: 1_000 }, (_, i) => `${i}`);
    const text = character.repeat(40_000);
    for (const key of keys) set(key, { expansion: { longUrl: key } as Expansion, text, expiresAt: 0 });
    const kept = keys.filter((key) => get(key)?.longUrl === key);
    expect(kept).toHaveLength(Math.min(Math.floor((32 * 1024 * 1024) / (40_000 * bytes + 203)), 1_000));
    expect(kept.at(-1)).toBe('999');
  },
);
