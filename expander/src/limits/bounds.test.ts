import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { cacheExpansions, memoryTier } from '../cache/caches.ts';
import { endedExpansion } from '../expansion/chain.ts';
import { ExpansionError } from '../expansion/errors.ts';
import type { Unshorten } from '../expansion/expansion.ts';
import { readTarget } from '../expansion/target.ts';
import { limitExpansions, limitRefreshes } from './in-flight.ts';

describe('expansions in flight', () => {
  test('are at most 1024 in total; the next is overloaded', async () => {
    const hang = Promise.withResolvers<void>();
    const unshorten: Unshorten = limitExpansions()(async ({ text }) => {
      await hang.promise;
      return endedExpansion(text, new ExpansionError('timeout', ''));
    });
    const expand = (url: string) => unshorten(readTarget(url), { follow: 'default', maxRedirect: 5 });
    const waiting = Array.from({ length: 1_024 }, (_, i) => expand(`http://${i}.example/`));
    await expect(expand('http://x.example/')).rejects.toMatchObject({ code: 'overloaded' });
    hang.resolve();
    await Promise.all(waiting);
    expect((await expand('http://x.example/')).error?.code).toBe('timeout');
  });

  test('that refresh the cache are at most 64 for one client, and other clients have theirs', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const refreshed: string[] = [];
    const unshorten = cacheExpansions(memoryTier())(
      limitRefreshes(async ({ text }, { refresh, client }) => {
        if (refresh) refreshed.push(client ?? '');
        if (refresh) await new Promise(() => {});
        return endedExpansion(text, { code: 'final', message: '' });
      }),
    );
    const expand = (url: string, client: string) =>
      unshorten(readTarget(url), { follow: 'default', maxRedirect: 5, client });
    const links = Array.from({ length: 100 }, (_, i) => `http://${i}.example/`);
    for (const link of links) await expand(link, '192.0.2.1');
    vi.advanceTimersByTime(11 * 60_000);
    for (const link of links) expect(await expand(link, '192.0.2.1')).toMatchObject({ cached: true });
    const of = (client: string) => refreshed.filter((other) => other === client).length;
    await vi.waitFor(async () => {
      expect(await expand('http://99.example/', '192.0.2.2')).toMatchObject({ cached: true });
      expect([of('192.0.2.1'), of('192.0.2.2')]).toEqual([64, 1]);
    });
  });
});
