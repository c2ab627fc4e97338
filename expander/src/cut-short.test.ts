import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { testExpander } from '../testing/expander.ts';
import { website } from '../testing/website.ts';
import { cacheExpansions } from './cache/expansions.ts';
import { cacheHopResponses } from './cache/hop-responses.ts';
import { followRedirects } from './expansion/chain.ts';
import { createExpand } from './expansion/expand.ts';
import type { Expansion } from './expansion/expansion.ts';
import { createBrowse } from './hop/browse.ts';
import type { Request } from './hop/exchange.ts';
import { singleFlight } from './limits/single-flight.ts';

/** Returns the expansion fields that are the same for every visit. */
const summary = ({ hops, longUrl, redirectCount, end }: Expansion) => ({
  hops: hops.map(({ kind, status, method, incomplete, title }) => [kind, status, method, incomplete, title]),
  longUrl: longUrl?.replace(/\?.*/, ''),
  redirectCount,
  end,
});

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn += 1) await setImmediate();
};

/**
 * Serves a chain with three kinds of hops: HEAD only, HEAD and GET for a page, and GET after a refused HEAD.
 *
 * @param step is awaited before each response and after each half of the page.
 */
const chain =
  (step: (url: string) => Promise<void>) =>
  async ({ method, url = '' }: IncomingMessage, response: ServerResponse) => {
    const [path, query = ''] = url.split('?');
    const next = path === '/short' ? '/page' : '/end';
    const isRefused = path === '/refused' && method === 'HEAD';
    await step(query);
    if (path === '/page') response.writeHead(200, { 'Content-Type': 'text/html' });
    else if (path === '/end') response.writeHead(200, { 'Content-Type': 'text/plain' });
    else response.writeHead(isRefused ? 405 : 302, isRefused ? {} : { Location: `${next}?${query}` });
    if (path === '/page' && method === 'GET') {
      const refresh = `<meta http-equiv=refresh content="0;/refused?${query}">`;
      for (const half of ['<title>A page</title>', refresh]) {
        response.write(half);
        await step(query);
      }
    }
    response.end();
  };

test('a client that disconnects at any step does not affect later results', async () => {
  const steps = new Map<string, (step: number) => void>();
  const counts = new Map<string, number>();
  const origin = await website(
    chain(async (query) => {
      const count = (counts.get(query) ?? 0) + 1;
      counts.set(query, count);
      steps.get(query)?.(count);
      // Let the client read the data sent so far.
      await setImmediate();
    }),
  );
  /** Creates a new expander for each link, because an expander stops sending HEAD to an origin after two refusals. */
  const visitor = (query: string) => {
    const { expand } = testExpander();
    return (signal?: AbortSignal) => expand.chain(`${origin}/short?${query}`, { follow: 'all', signal });
  };

  const truth = summary(await visitor('truth')());
  expect(truth).toMatchObject({ longUrl: `${origin}/end`, redirectCount: 3, end: { code: 'final' } });
  const all = counts.get('truth') ?? 0;
  expect(all).toBeGreaterThan(6);

  const codes: unknown[] = [];

  /** Aborts a visit `later` turns after `step`, then makes two more visits `next` turns later. @returns their results. */
  const leaveAt = async (step: number, later: number, next: number) => {
    const query = `${step}-${later}-${next}`;
    const visit = visitor(query);
    const leaver = new AbortController();
    const left = Promise.withResolvers<void>();
    steps.set(query, async (count) => {
      if (count !== step) return;
      await turns(later);
      leaver.abort();
      left.resolve();
    });
    const leaving = visit(leaver.signal);
    await left.promise;
    await turns(next);
    const results = [await visit(), await visit()].map(summary);
    codes.push((await leaving).error?.code);
    return results;
  };
  for (let step = 1; step <= all; step += 1)
    for (const later of [0, 1, 2, 3])
      for (const next of [0, 1, 2])
        expect(await leaveAt(step, later, next), `step ${step}, ${later}, ${next}`).toEqual([truth, truth]);
  expect(codes).toContain('aborted');
});

test('a timeout while reading a page is cached as a timeout', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const requested: string[] = [];
  const head = { addressFamily: 4, body: Buffer.alloc(0), isCut: false, source: null } as const;
  const request: Request = async ({ pathname }, { method, signal }) => {
    requested.push(`${method} ${pathname}`);
    await new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason));
      if (method === 'HEAD') setTimeout(resolve, 1_499);
    });
    const step = Number(pathname.slice(1));
    return step < 5
      ? { ...head, status: 301, headers: { location: `http://${step + 1}.example/${step + 1}` } }
      : { ...head, status: 200, headers: { 'content-type': 'text/html' } };
  };
  const hops = cacheHopResponses()(createBrowse(request));
  const { chain } = createExpand(cacheExpansions(singleFlight)(followRedirects(hops)));
  const visit = async () => {
    const expansion = chain('http://1.example/1', { follow: 'all' });
    await vi.advanceTimersByTimeAsync(8_000);
    return expansion;
  };
  const expansion = await visit();
  expect(requested.at(-1)).toBe('GET /5');
  expect(expansion.error).toMatchObject({ code: 'timeout' });
  expect(expansion.staleUntil).toBe(Date.now() + 10_000);
  requested.length = 0;
  await visit();
  expect(requested).toEqual([]);
  vi.advanceTimersByTime(2_000);
  await visit();
  expect(requested).toEqual(['HEAD /5', 'GET /5']);
});
