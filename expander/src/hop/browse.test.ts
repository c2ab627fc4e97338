import type { IncomingHttpHeaders } from 'node:http';
import { deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { testExpander } from '../../testing/expander.ts';
import { website } from '../../testing/website.ts';
import { ExpansionError } from '../expansion/errors.ts';
import { createBrowse } from './browse.ts';
import type { Response } from './exchange.ts';

const response = (status: number, type = 'text/plain'): Response => ({
  status,
  headers: { 'content-type': type },
  addressFamily: 4,
  body: Buffer.alloc(0),
});

test('the title of a page is that of its hop, from the cache too, and costs no more requests', async () => {
  let requests = 0;
  const u = await website((_, response) => {
    requests += 1;
    response.writeHead(200, { 'Content-Type': 'text/html' }).end('<title>A page</title>');
  });
  const { expand } = testExpander();
  for (const cached of [false, true]) {
    const { hops } = await expand.trace(u, { follow: 'all' });
    expect(hops).toMatchObject([{ title: 'A page', cached }]);
  }
  expect(requests).toBe(2);
});

describe('follow=all asks once more with GET', () => {
  test.each([200, 401, 410, 429, 503])('not where HEAD is answered %i', async (status) => {
    const asked: string[] = [];
    const browse = createBrowse(async (_, { method }) => {
      asked.push(method);
      return response(status);
    });
    await browse(new URL('http://a.example/'), {});
    expect(asked).toEqual(['HEAD']);
  });

  test('and remembers it for the host, unless GET says the same', async () => {
    const asked: string[] = [];
    const browse = createBrowse(async ({ host }, { method }) => {
      asked.push(`${method} ${host}`);
      return response(method === 'GET' && host === 'picky.example' ? 200 : 404);
    });
    for (const host of ['picky.example', 'picky.example', 'plain.example', 'plain.example']) {
      await browse(new URL(`http://${host}/`), {});
    }
    expect(asked).toEqual([
      ...['HEAD picky.example', 'GET picky.example', 'GET picky.example'],
      ...['HEAD plain.example', 'GET plain.example', 'HEAD plain.example', 'GET plain.example'],
    ]);
  });
});

describe('a host that is silent on HEAD', () => {
  /** A website that answers GET alone, what it was asked, and an expander. */
  async function silent() {
    const asked: string[] = [];
    const url = await website(({ method, url = '' }, response) => {
      asked.push(`${method} ${url}`);
      if (method === 'GET') response.writeHead(302, { Location: 'http://127.0.0.1:1/' }).end();
    });
    const { expand } = testExpander();
    return { asked, ask: async (path: string) => (await expand.trace(url + path, { follow: 'all' })).hops };
  }

  test('is asked by GET after 1.5 s, and by GET alone the next time', async () => {
    const { asked, ask } = await silent();
    const hops = await ask('/a');
    expect(hops).toMatchObject([{ method: 'GET', status: 302 }]);
    expect(hops[0]?.milliseconds).toBeGreaterThan(1_450);
    await ask('/b');
    expect(asked).toEqual(['HEAD /a', 'GET /a', 'GET /b']);
  });

  test('is asked by GET also where 64 HEADs hang', async () => {
    const byGet = async () => {
      const { ask } = await silent();
      const chains = await Promise.all(Array.from({ length: 64 }, (_, i) => ask(`/${i}`)));
      return chains.filter(([first]) => first?.method === 'GET').length;
    };
    // Where a machine is busy, a hop may take longer than it may.
    await expect.poll(byGet, { timeout: 25_000 }).toBe(64);
  });

  test('may still answer HEAD first: it is only slow', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const signals: (AbortSignal | undefined)[] = [];
    const browse = createBrowse(async (_, { method, signal }) => {
      signals.push(signal);
      await new Promise((resolve) => setTimeout(resolve, method === 'HEAD' ? 2_000 : 9_000));
      return response(200);
    });
    const answer = browse(new URL('http://a.example/'), {});
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await answer).toMatchObject({ method: 'HEAD', status: 200 });
    expect(signals.map((signal) => signal?.aborted)).toEqual([true, true]);
  });
});

describe('a page', () => {
  const pages = (page: () => Promise<Response>) =>
    createBrowse(async (_, { method, bodyLimit }) => {
      const head = response(200, 'text/html');
      if (method === 'HEAD') return head;
      expect(bodyLimit?.(head)).toBe(64 * 1024);
      return page();
    });
  const markup = '<meta http-equiv="refresh" content="0;url=/next">';

  test('is read for a redirect', async () => {
    const browse = pages(async () => ({ ...response(200, 'text/html'), body: Buffer.from(markup) }));
    expect(await browse(new URL('http://a.example/'), {})).toMatchObject({
      method: 'GET',
      bytesRead: markup.length,
      refresh: { kind: 'meta', url: 'http://a.example/next' },
    });
  });

  test('that cannot be had is where the chain ends, as its headers say', async () => {
    const browse = pages(() => Promise.reject(new ExpansionError('request_failed', 'It is down.')));
    const answer = await browse(new URL('http://a.example/'), {});
    expect(answer).toMatchObject({ method: 'HEAD', status: 200, isProvisional: true });
    expect(answer.freshUntil).toBeLessThanOrEqual(Date.now() + 30_000);
  });

  test('that does not come is where the chain ends, before the time of the hop is over', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const answer = pages(() => new Promise(() => {}))(new URL('http://a.example/'), {});
    await vi.advanceTimersByTimeAsync(2_900);
    expect(await answer).toMatchObject({ method: 'HEAD', status: 200 });
  });

  test.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
  ])('that comes compressed as %s, although that was not asked for, is read', async (encoding, compress) => {
    const asked: IncomingHttpHeaders[] = [];
    const url = await website(({ headers, url }, response) => {
      asked.push(headers);
      if (url !== '/') return void response.end();
      response.writeHead(200, { 'Content-Type': 'text/html', 'Content-Encoding': encoding });
      response.end(compress(markup));
    });
    const { longUrl, hops } = await testExpander().expand.trace(url, { follow: 'all' });
    expect(longUrl).toBe(`${url}/next`);
    expect(hops[0]).toMatchObject({ kind: 'meta', method: 'GET', location: `${url}/next` });
    expect(asked[1]?.['accept-encoding']).toBe('identity');
  });

  test('that is a compression bomb costs what 64 KiB cost', async () => {
    const url = await website((_, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html', 'Content-Encoding': 'gzip' });
      response.end(bomb);
    });
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, '<b>'));
    const { end } = await testExpander().expand.trace(url, { follow: 'all' });
    expect(end.code).toBe('final');
  });
});
