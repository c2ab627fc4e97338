import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Shortener, startShortener } from '@longhand/shortener';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { testExpander } from '../../testing/expander.ts';
import type { Answer } from '../expansion/expansion.ts';
import { withGetFallback } from './get-fallback.ts';

let shortener: Shortener;
beforeAll(async () => {
  shortener = await startShortener();
});
afterAll(() => shortener.close());

const answer = (status: number): Answer => ({
  status,
  location: null,
  method: 'HEAD',
  addressFamily: 4,
  freshUntil: 0,
  cached: false,
});

describe('follow=all asks once more with GET', () => {
  test.each([400, 403, 404, 405, 500, 501])('where HEAD is answered %i', async (status) => {
    const u = `${shortener.url}/head-not-allowed/1?answer=${status}`;
    const { hops, redirectCount } = await testExpander().expand.trace(u, { follow: 'all' });
    expect(redirectCount).toBe(1);
    expect(hops.map(({ method, status }) => [method, status])).toEqual([
      ['GET', 301],
      ['GET', 200],
    ]);
  });

  test('where HEAD is reset', async () => {
    const { redirectCount } = await testExpander().expand.trace(`${shortener.url}/head-reset/1`, {
      follow: 'all',
    });
    expect(redirectCount).toBe(1);
  });

  test('where the connection is closed at HEAD', async () => {
    const server = createServer(({ method, socket }, response) => {
      if (method === 'HEAD') socket.end();
      else response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const { hops } = await testExpander().expand.trace(`http://127.0.0.1:${port}/`, { follow: 'all' });
    expect(hops).toMatchObject([{ method: 'GET', status: 200 }]);
  });

  test.each([200, 401, 410, 429, 503])('not where HEAD is answered %i', async (status) => {
    const asked: string[] = [];
    const ask = withGetFallback(async (_, method) => {
      asked.push(method);
      return answer(status);
    });
    await ask(new URL('http://a.example/'));
    expect(asked).toEqual(['HEAD']);
  });

  test('and cuts it after the headers', async () => {
    const endless = await startShortener();
    const { expand } = testExpander();
    await expand.trace(`${endless.url}/head-not-allowed/0`, { follow: 'all' });
    const { hops } = await expand.trace(`${endless.url}/endless`, { follow: 'all' });
    expect(hops[0]).toMatchObject({ method: 'GET', status: 200 });
    await endless.close();
  });

  test('and remembers it for the host, unless GET says the same', async () => {
    const asked: string[] = [];
    const ask = withGetFallback(async ({ host }, method) => {
      asked.push(`${method} ${host}`);
      return answer(method === 'GET' && host === 'picky.example' ? 200 : 404);
    });
    for (const host of ['picky.example', 'picky.example', 'plain.example', 'plain.example']) {
      await ask(new URL(`http://${host}/`));
    }
    expect(asked).toEqual([
      ...['HEAD picky.example', 'GET picky.example', 'GET picky.example'],
      ...['HEAD plain.example', 'GET plain.example', 'HEAD plain.example', 'GET plain.example'],
    ]);
  });
});

test('without follow=all a HEAD that is turned down is the end', async () => {
  const { hops } = await testExpander().expand.trace(`${shortener.url}/head-not-allowed/1`);
  expect(hops.map(({ method, status }) => [method, status])).toEqual([['HEAD', 405]]);
});
