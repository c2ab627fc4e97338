import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { testExpander } from '../../testing/expander.ts';
import { answerTo, ask, serving } from '../../testing/serving.ts';
import { shortener } from '../../testing/shortener.ts';
import { website } from '../../testing/website.ts';
import { answerFromMemory, cacheExpansions, memoryTier } from '../cache/caches.ts';
import { endedExpansion } from '../expansion/chain.ts';
import { ExpansionError } from '../expansion/errors.ts';
import type { Unshorten } from '../expansion/expansion.ts';
import { readTarget } from '../expansion/target.ts';
import { limitClients, limitExpansions } from './in-flight.ts';

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

  test('include those that refresh the cache: a client has 256, and other clients have theirs', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const refreshed: (string | undefined)[] = [];
    const website: Unshorten = async ({ text }, { refresh, client }) => {
      if (refresh) refreshed.push(client);
      if (refresh) await new Promise(() => {});
      const ended = endedExpansion(text, { code: 'final', message: '' });
      return { ...ended, freshUntil: Date.now() + 10 * 60_000, staleUntil: Date.now() + 20 * 60_000 };
    };
    const memory = memoryTier();
    const unshorten = answerFromMemory(memory)(limitClients(cacheExpansions(memory)(website)));
    const expand = (i: number, client: string) =>
      unshorten(readTarget(`http://${i}.example/`), { follow: 'default', maxRedirect: 5, client });
    for (let i = 0; i < 300; i += 1) await expand(i, 'one');
    vi.advanceTimersByTime(11 * 60_000);
    for (let i = 0; i < 300; i += 1) expect(await expand(i, 'one')).toMatchObject({ cached: true });
    await expect.poll(() => refreshed.length).toBe(256);
    await expand(299, 'other');
    await expect.poll(() => refreshed.at(-1)).toBe('other');
  });
});

describe('a host that hangs', () => {
  /** An expander, and how many of its requests hang. */
  async function expander() {
    const { url } = await serving(testExpander().app);
    const asked = () => shortener.requests.get('HEAD /hang') ?? 0;
    const before = asked();
    const request = (u: string, client = '192.0.2.1') =>
      ask(url, `/api?u=${encodeURIComponent(u)}`, undefined, { 'X-Forwarded-For': client });
    const hang = (length: number, clientOf: (i: number) => string) =>
      Array.from({ length }, (_, i) => request(`${shortener.url}/hang?${i}`, clientOf(i)));
    return { request, hang, hung: () => asked() - before };
  }

  test('has 64 expansions waiting at the most: the next is 503 with Retry-After, and no other host is disturbed', async () => {
    const { request, hang, hung } = await expander();
    const other = await website((_, response) => response.end());
    const waiting = hang(64, (i) => `192.0.2.${i % 2}`);
    await expect.poll(hung).toBe(64);
    const { statusCode, headers } = await answerTo(request(`${shortener.url}/chain/0`));
    expect([statusCode, headers['retry-after'], headers['cache-control']]).toEqual([503, '1', 'no-store']);
    const undisturbed = Array.from({ length: 64 }, (_, i) => answerTo(request(`${other}/?${i}`)));
    expect((await Promise.all(undisturbed)).map(({ statusCode }) => statusCode)).toEqual(Array(64).fill(200));
    for (const each of waiting) each.destroy();
    const again = async () => (await answerTo(request(`${shortener.url}/chain/0`))).statusCode;
    await expect.poll(again).toBe(200);
  });

  test('has room for other clients, whatever one of them waits for', async () => {
    const { request, hang, hung } = await expander();
    hang(64, () => '192.0.2.1');
    await expect.poll(hung).toBe(56);
    const status = async (path: string, client: string) =>
      (await answerTo(request(`${shortener.url}${path}`, client))).statusCode;
    expect(await status('/chain/0?alone', '192.0.2.1')).toBe(503);
    expect(await status('/chain/0?alone', '192.0.2.2')).toBe(200);
    // One that both wait for is for the other one, too.
    const shared = ['192.0.2.1', '192.0.2.2'].map((client) => status('/chain/1?delay=50', client));
    expect((await Promise.all(shared))[1]).toBe(200);
  });
});

test('a client with 256 expansions waiting at many origins gets 503, and no other client does', async () => {
  const names: string[] = [];
  const { app } = testExpander({ lookup: (name) => void names.push(name) });
  const request = (u: string, client: string) =>
    app.request(`/api?u=${encodeURIComponent(u)}`, { headers: { 'X-Forwarded-For': client } });
  for (let i = 0; i < 256; i += 1) request(`http://${i}.example/`, '192.0.2.1');
  await expect.poll(() => names.length).toBe(256);
  const [refused, answered] = ['192.0.2.1', '192.0.2.2'].map((client) => request(shortener.url, client));
  const { status, headers } = (await refused) as Response;
  expect([status, headers.get('retry-after')]).toEqual([503, '1']);
  expect((await answered)?.status).toBe(200);
});
