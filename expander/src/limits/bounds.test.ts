import { describe, expect, test } from 'vitest';
import { endedExpansion } from '../expansion/chain.ts';
import { ExpansionError } from '../expansion/errors.ts';
import type { ExpandUrl } from '../expansion/expansion.ts';
import { readTarget } from '../expansion/target.ts';
import { createLimit, limitClients, limitExpansions } from './in-flight.ts';

test('work in flight is limited for each key; the next is overloaded, and other keys are not', async () => {
  const limit = createLimit(64, (host) => `Too many are waiting for ${host}`);
  const hang = Promise.withResolvers<string>();
  const waiting = Array.from({ length: 64 }, () => limit('slow.example', () => hang.promise));
  await expect(limit('slow.example', async () => 'done')).rejects.toMatchObject({
    code: 'overloaded',
    message: 'Too many are waiting for slow.example; try again soon.',
  });
  expect(await limit('quick.example', async () => 'done')).toBe('done');
  hang.resolve('done');
  await Promise.all(waiting);
  expect(await limit('slow.example', async () => 'done')).toBe('done');
});

describe('expansions in flight', () => {
  test('are at most 256 for one client; its next one is overloaded, and other clients are not', async () => {
    const hang = Promise.withResolvers<void>();
    const expandUrl: ExpandUrl = limitClients(async ({ text, url }) => {
      if (url.host !== 'quick.example') await hang.promise;
      return endedExpansion(text, new ExpansionError('timeout', ''));
    });
    const expand = (url: string, client: string) =>
      expandUrl(readTarget(url), { follow: 'default', maxRedirect: 5, client });
    const waiting = Array.from({ length: 256 }, (_, i) => expand(`http://${i}.example/`, '192.0.2.1'));
    await expect(expand('http://quick.example/', '192.0.2.1')).rejects.toMatchObject({ code: 'overloaded' });
    expect((await expand('http://quick.example/', '192.0.2.2')).error?.code).toBe('timeout');
    hang.resolve();
    await Promise.all(waiting);
    expect((await expand('http://quick.example/', '192.0.2.1')).error?.code).toBe('timeout');
  });

  test('are at most 1024 in total; the next is overloaded', async () => {
    const hang = Promise.withResolvers<void>();
    const expandUrl: ExpandUrl = limitExpansions()(async ({ text }) => {
      await hang.promise;
      return endedExpansion(text, new ExpansionError('timeout', ''));
    });
    const expand = (url: string) => expandUrl(readTarget(url), { follow: 'default', maxRedirect: 5 });
    const waiting = Array.from({ length: 1_024 }, (_, i) => expand(`http://${i}.example/`));
    await expect(expand('http://x.example/')).rejects.toMatchObject({ code: 'overloaded' });
    hang.resolve();
    await Promise.all(waiting);
    expect((await expand('http://x.example/')).error?.code).toBe('timeout');
  });
});
