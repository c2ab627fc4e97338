import { createTurns } from '@longhand/shared/turns.ts';
import { startShortener } from '@longhand/shortener';
import { describe, expect, onTestFinished, test } from 'vitest';
import { testExpander } from '../../testing/expander.ts';
import { endedExpansion } from '../expansion/chain.ts';
import { type BulkLine, processList } from './process-list.ts';
import { inTurns, type NumberedUrl } from './url-list.ts';

const shortener = await startShortener();

const { app } = testExpander();
const post = (body: string, path = '/api/expand') => app.request(path, { method: 'POST', body });
const lines = async (response: Response): Promise<BulkLine[]> =>
  (await response.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('POST /api/expand', () => {
  test.each([
    ['one URL per line', (urls: string[]) => urls.join('\n')],
    ['CRLF and blank lines', (urls: string[]) => `\ufeff${urls.join('\r\n\r\n')}\r\n`],
    ['a JSON array', (urls: string[]) => JSON.stringify(urls)],
  ])('accepts %s', async (_, written) => {
    const urls = [2, 1, 0].map((n) => `${shortener.url}/chain/${n}?bulk`);
    const results = await lines(await post(written(urls)));
    expect(results.map(({ url, redirectCount }) => [url, redirectCount]).sort()).toEqual(
      urls.map((url) => [url, Number(/chain\/(\d)/.exec(url)?.[1])]).sort(),
    );
  });

  test.each([
    ['UTF-16 with a byte order mark', (url: string) => Buffer.from(`\ufeff${url}\r\n`, 'utf16le')],
    ['big-endian UTF-16', (url: string) => Buffer.from(`\ufeff${url}\r\n`, 'utf16le').swap16()],
  ])('reads %s', async (_, encode) => {
    const url = `${shortener.url}/chain/0?ü`;
    const response = await app.request('/api/expand', { method: 'POST', body: encode(url) });
    expect(await lines(response)).toMatchObject([{ url, error: null }]);
  });

  test('refuses only the lines that would become another URL', async () => {
    const url = `${shortener.url}/chain/0?lines`;
    const body = Buffer.from(`${url}\n${url}caf\xe9\n${url}\t2026\n\t${url} \t`, 'latin1');
    const results = await lines(await app.request('/api/expand', { method: 'POST', body }));
    expect(results.map(({ line, error }) => [line, error?.message ?? null]).sort()).toEqual([
      [1, null],
      [2, 'The line is not UTF-8; convert the list to UTF-8.'],
      [3, 'The line contains a tab; put only the URL on the line.'],
      [4, null],
    ]);
  });

  test('refuses a compressed list', async () => {
    const send = (coding: string) =>
      app.request('/api/expand', { method: 'POST', headers: { 'Content-Encoding': coding }, body: '' });
    const response = await send('gzip');
    expect([response.status, await response.text()]).toEqual([
      415,
      'The body has a Content-Encoding; send it uncompressed.',
    ]);
    expect((await send('identity')).status).toBe(200);
  });

  test('streams results as text/html without proxy buffering', async () => {
    const { headers, body } = await post(`${shortener.url}/delay/300\n${shortener.url}/chain/0?first`);
    expect([headers.get('content-type'), headers.get('x-accel-buffering')]).toEqual(['text/html', 'no']);
    const pieces = (body as ReadableStream<Uint8Array<ArrayBuffer>>).pipeThrough(new TextDecoderStream());
    expect((await Array.fromAsync(pieces)).map((piece) => JSON.parse(piece))).toMatchObject([
      { line: 2, longUrl: `${shortener.url}/chain/0?first`, error: null },
      { line: 1, longUrl: `${shortener.url}/delay/300` },
    ]);
  });

  test('reports a bad URL only on its own line', async () => {
    const body = JSON.stringify([`${shortener.url}/chain/1`, 'http://', 'http://10.0.0.1/', 42, null, '<b>']);
    const response = await post(body);
    expect(await response.clone().text()).not.toMatch(/<|[^\n\x20-\x7e]/);
    expect((await lines(response)).map(({ line, error }) => [line, error?.code ?? null]).sort()).toEqual([
      [1, null],
      [2, 'invalid_url'],
      [3, 'target_refused'],
      [4, 'invalid_url'],
      [5, 'invalid_url'],
      [6, 'invalid_url'],
    ]);
  });

  test('supports follow=all', async () => {
    const results = await lines(await post(`${shortener.url}/chain/1?status=308`, '/api/expand?follow=all'));
    expect(results[0]?.redirectCount).toBe(1);
  });

  test.each([
    ['more than 10,000 URLs', 'x\n'.repeat(10_001), 413],
    ['more than 8 MB', 'x'.repeat(8_000_001), 413],
  ])('refuses %s', async (_, body, status) => {
    const response = await post(body);
    expect(response.status).toBe(status);
    expect(response.headers.get('x-power-by')).toBe('Longhand');
  });

  test.each([
    ['application/json', 400],
    ['application/vnd.api+json', 400],
    ['text/plain', 200],
  ])('with Content-Type %s and an unclosed array returns %i', async (type, status) => {
    const request = { method: 'POST', body: '["http://10.0.0.1/', headers: { 'Content-Type': type } };
    expect((await app.request('/api/expand', request)).status).toBe(status);
  });

  test('responds to an empty list with an empty body', async () => {
    expect(await (await post('\n\n')).text()).toBe('');
  });
});

test('each list yields to the event loop after eight lines', async () => {
  let lines = 0;
  const turns: number[] = [];
  const count = () => {
    turns.push(lines);
    lines = 0;
    turn = setImmediate(count);
  };
  let turn = setImmediate(count);
  onTestFinished(() => clearImmediate(turn));
  let time = 0;
  const busy = async () => {
    lines += 1;
    time += 0.25;
    return endedExpansion('http://a.example/', { code: 'final', message: '' });
  };
  const options = { concurrency: 48, onFault: () => {} };
  const urls = () => Array.from({ length: 100 }, (_, i): NumberedUrl => [i, 'http://a.example/']);
  const clientTurns = createTurns(() => time);
  // This turn of the event loop has no time left.
  clientTurns(() => []);
  time = 2;
  const inOwnTurns = (i: number) =>
    inTurns(
      urls(),
      async () => clientTurns(() => [`client ${i}`]),
      () => {},
    );
  const expandList = (_: unknown, i: number) => processList(inOwnTurns(i), busy, () => undefined, options);
  await Promise.all(Array.from({ length: 3 }, expandList));
  expect(turns.reduce((sum, lines) => sum + lines)).toBeGreaterThan(250);
  expect(Math.max(...turns)).toBeLessThanOrEqual(8);
});
