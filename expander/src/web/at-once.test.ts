import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { createMetrics, observed } from '@longhand/shared/observe.ts';
import { type Application, type AtOnce, serve } from '@longhand/shared/serve.ts';
import { type Shortener, startShortener } from '@longhand/shortener';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { testExpander } from '../../testing/expander.ts';

let shortener: Shortener;
beforeAll(async () => {
  shortener = await startShortener();
});
afterAll(() => shortener.close());

const path = (u: string) => `/api?u=${encodeURIComponent(u)}`;
const incoming = (url: string, more: object = {}) =>
  ({ method: 'GET', url, headers: { host: 'expander.localhost:8080' }, ...more }) as IncomingMessage;

describe('what memory knows', () => {
  test('is answered at once, and the same as by the application', async () => {
    const { app } = testExpander();
    const url = path(`${shortener.url}/chain/2`);
    expect(app.atOnce(incoming(url))).toBeUndefined();
    await app.request(url);
    const told = await app.request(url);
    const answer = app.atOnce(incoming(url));
    const body = await told.text();
    expect(answer?.body).toBe(body);
    // Which the application leaves to its server.
    told.headers.set('Content-Length', `${body.length}`);
    expect([...new Headers(answer?.headers)]).toEqual([...told.headers]);
  });

  test.each([
    ['an error', '/malformed', {}],
    ['a HEAD', '/chain/0', { method: 'HEAD' }],
    ['another method', '/chain/0', { method: 'POST' }],
    ['a host that is none', '/chain/0', { headers: { host: '[' } }],
    ['a port that is none', '/chain/0', { headers: { host: 'a:99999' } }],
  ])('is left to the application with %s', async (_, target, more) => {
    const { app } = testExpander();
    const url = path(shortener.url + target);
    await app.request(url);
    expect(app.atOnce(incoming(url, more))).toBeUndefined();
  });

  test('is left to the application where the target is a whole URL', async () => {
    const { app } = testExpander();
    const url = path(`${shortener.url}/chain/0`);
    await app.request(url);
    expect(app.atOnce(incoming(`http://expander.localhost:8080${url}`))).toBeUndefined();
  });

  test.each(['&cb=f', '&follow=all', '&u=', '#x', '%', '+'])(
    'is left to the application with more in the query: %s',
    async (more) => {
      const { app } = testExpander();
      const url = path(`${shortener.url}/chain/0`);
      await app.request(url);
      expect(app.atOnce(incoming(url))).toBeDefined();
      expect(app.atOnce(incoming(url + more))).toBeUndefined();
    },
  );

  test('is left to the application once it is past its time, which has it made anew', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { app } = testExpander();
    const url = path(`${shortener.url}/chain/0`);
    await app.request(url);
    vi.advanceTimersByTime(11 * 60_000);
    expect(app.atOnce(incoming(url))).toBeUndefined();
  });

  test('is asked for with the redirects that may be followed now', async () => {
    const { app, expand } = testExpander();
    const url = path(`${shortener.url}/chain/3`);
    await app.request(url);
    expand.maxRedirect = 1;
    expect(app.atOnce(incoming(url))).toBeUndefined();
  });
});

/** The status of the answer to `GET target` with this `Host`, over a connection of its own. */
async function statusOf(port: number, target: string, host: string | null) {
  const socket = connect(port, '127.0.0.1');
  const lines = host === null ? [] : [`Host: ${host}`];
  socket.write([`GET ${target} HTTP/1.1`, ...lines, 'Connection: close', '', ''].join('\r\n'), 'latin1');
  return (await text(socket)).split(' ')[1];
}

test('whatever the Host, it is judged as the application judges it', async () => {
  const { app } = testExpander();
  const url = path(`${shortener.url}/chain/0`);
  await app.request(url);
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const options = { host: '127.0.0.1', port: 0, signal: stop.signal };
  let answered = 0;
  const atOnce: AtOnce = (incoming) => {
    const answer = app.atOnce(incoming);
    if (answer) answered += 1;
    return answer;
  };
  const fetch = app.fetch as Application['fetch'];
  const [quick, usual] = await Promise.all([serve({ fetch, atOnce }, options), serve({ fetch }, options)]);
  const numbers = [
    '1.2.3:80',
    '1.2.3',
    '1.2.3:8080',
    '256.1.1.1:80',
    '256.1.1.1',
    '0x7f',
    '0X7F',
    '0x7f:80',
    '127.1:1',
  ];
  const names = [
    'a',
    'A',
    'EXAMPLE.1',
    'example.1',
    'EXAMPLE.1:80',
    'XN--A',
    'xn--a',
    'xn--a:80',
    'a..b',
    'a-',
    '-',
    '_',
    'é',
  ];
  const ports = [
    'a:',
    'a:0',
    'a:80',
    'a:443',
    'a:999',
    'a:8080',
    'a:59999',
    'a:65535',
    'a:65536',
    'a:99999',
    'a:08080',
  ];
  const others = [
    null,
    '',
    '.',
    '..',
    '.:80',
    'a b',
    'a/b',
    'a@b',
    'a,b',
    '[::1]',
    '[::1]:8080',
    '[',
    'a%41',
  ];
  const hosts = [...numbers, ...names, ...ports, ...others];
  for (const target of [url, decodeURIComponent(url)]) {
    const judged = (port: number) =>
      Promise.all(hosts.map(async (host) => [host, await statusOf(port, target, host)]));
    expect(await judged(quick.port)).toEqual(await judged(usual.port));
  }
  expect(answered).toBeGreaterThan(5);
});

test('over HTTP it is counted, observed and written like every answer', async () => {
  const metrics = createMetrics();
  const expander = new Registry();
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const { app } = testExpander({ metrics: expander });
  const served = observed(app, pino({ level: 'silent' }), metrics);
  const { url } = await serve(served, { host: '127.0.0.1', port: 0, signal: stop.signal });
  const ask = () => fetch(new URL(path(`${shortener.url}/chain/1`), url));
  const answers = [await ask(), await ask()];
  expect(await Promise.all(answers.map((answer) => answer.text()))).toEqual(
    Array(2).fill(`${shortener.url}/chain/0`),
  );
  const [first, second] = answers.map(({ headers }) => [...headers.keys()].sort());
  expect(second).toEqual(first);
  const counted = `${await expander.metrics()}${await metrics.metrics()}`;
  for (const line of [
    'expander_cache_answers_total{tier="memory",result="hit"} 1',
    'expander_cache_answers_total{tier="memory",result="miss"} 1',
    'expander_expansions_total{end="final"} 2',
    'http_request_duration_seconds_count{method="GET",route="/api",status="200"} 2',
  ]) {
    expect(counted).toContain(line);
  }
});
