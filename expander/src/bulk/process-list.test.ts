import { createTurns } from '@longhand/shared/turns.ts';
import { startShortener } from '@longhand/shortener';
import { describe, expect, onTestFinished, test } from 'vitest';
import { testExpander } from '../../testing/expander.ts';
import { endedExpansion } from '../expansion/chain.ts';
import { ExpansionError } from '../expansion/errors.ts';
import { createExpand } from '../expansion/expand.ts';
import { createApp } from '../web/app.ts';
import { type BulkLine, processList } from './process-list.ts';
import { inTurns, readUrls } from './url-list.ts';

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
    ['one URL a line', (urls: string[]) => urls.join('\n')],
    [
      'lines that end as on Windows, empty ones among them',
      (urls: string[]) => `\ufeff${urls.join('\r\n\r\n')}\r\n`,
    ],
    ['a JSON array', (urls: string[]) => JSON.stringify(urls)],
  ])('takes %s', async (_, written) => {
    const urls = [2, 1, 0].map((n) => `${shortener.url}/chain/${n}?bulk`);
    const answers = await lines(await post(written(urls)));
    expect(answers.map(({ url, redirectCount }) => [url, redirectCount]).sort()).toEqual(
      urls.map((url) => [url, Number(/chain\/(\d)/.exec(url)?.[1])]).sort(),
    );
  });

  test('answers as results come, as text/html like everything, and a proxy is told to pass them on', async () => {
    const { headers, body } = await post(`${shortener.url}/delay/300\n${shortener.url}/chain/0?first`);
    expect([headers.get('content-type'), headers.get('x-accel-buffering')]).toEqual(['text/html', 'no']);
    const pieces = (body as ReadableStream<Uint8Array<ArrayBuffer>>).pipeThrough(new TextDecoderStream());
    const answers = (await Array.fromAsync(pieces)).map((piece) => JSON.parse(piece));
    expect(answers).toMatchObject([
      { line: 2, longUrl: `${shortener.url}/chain/0?first`, error: null },
      { line: 1, longUrl: `${shortener.url}/delay/300` },
    ]);
  });

  test('one bad line fails alone', async () => {
    const body = JSON.stringify([`${shortener.url}/chain/1`, 'http://', 'http://10.0.0.1/', 42, null, '<b>']);
    const response = await post(body);
    const text = await response.clone().text();
    expect(text).not.toMatch(/<|[^\n\x20-\x7e]/);
    const answers = await lines(response);
    expect(answers.map(({ line, error }) => [line, error?.code ?? null]).sort()).toEqual([
      [1, null],
      [2, 'invalid_url'],
      [3, 'target_refused'],
      [4, 'invalid_url'],
      [5, 'invalid_url'],
      [6, 'invalid_url'],
    ]);
  });

  test('takes follow=all', async () => {
    const answers = await lines(await post(`${shortener.url}/chain/1?status=308`, '/api/expand?follow=all'));
    expect(answers[0]?.redirectCount).toBe(1);
  });

  test('takes 10 000 URLs', async () => {
    const ended = endedExpansion('x', new ExpansionError('timeout', 'Time is up.'));
    const quick = createApp(createExpand(async () => ended));
    const body = Array.from({ length: 10_000 }, (_, i) => `http://a.example/${i}`).join('\n');
    const answers = await lines(await quick.request('/api/expand', { method: 'POST', body }));
    expect(new Set(answers.map(({ line }) => line)).size).toBe(10_000);
  });

  test.each([
    ['more than 10 000 URLs', 'x\n'.repeat(10_001), 413],
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
  ])('of a list of lines that is said to be %s is %i', async (type, status) => {
    const body = '["http://10.0.0.1/\nhttp://10.0.0.1/';
    const request = { method: 'POST', body, headers: { 'Content-Type': type } };
    const response = await app.request('/api/expand', request);
    expect(response.status).toBe(status);
    if (status === 400) expect(await response.text()).toContain('not an array');
    else
      expect((await lines(response)).map(({ error }) => error?.code).sort()).toEqual([
        'invalid_url',
        'target_refused',
      ]);
  });

  test('of nothing answers nothing', async () => {
    expect(await (await post('\n\n')).text()).toBe('');
  });

  test('is the only method there', async () => {
    const response = await app.request('/api/expand');
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });
});

test('long lists leave the event loop to other requests after eight lines, however many lists there are', async () => {
  let lines = 0;
  const turns: number[] = [];
  const count = () => {
    turns.push(lines);
    lines = 0;
    turn = setImmediate(count);
  };
  let turn = setImmediate(count);
  onTestFinished(() => clearImmediate(turn));
  const busy = async () => {
    lines += 1;
    return endedExpansion('http://a.example/', { code: 'final', message: '' });
  };
  const options = { concurrency: 48, onFault: () => {} };
  const urls = await readUrls('http://a.example/\n'.repeat(100));
  const clientTurns = createTurns();
  const inOwnTurns = (i: number) => inTurns(urls, () => clientTurns([`client ${i}`]));
  const expandList = (_: unknown, i: number) => processList(inOwnTurns(i), busy, () => undefined, options);
  await Promise.all(Array.from({ length: 3 }, expandList));
  expect(turns.reduce((sum, lines) => sum + lines)).toBeGreaterThan(250);
  expect(Math.max(...turns)).toBeLessThanOrEqual(8);
});
