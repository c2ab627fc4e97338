import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { startShortener } from '@longhand/shortener';
import { expect, onTestFinished, test, vi } from 'vitest';
import { testExpander } from '../../testing/expander.ts';
import { serving } from '../../testing/serving.ts';

const shortener = await startShortener();

async function fetchHead(url: URL, method: string) {
  const sent = request(url, { method, agent: false }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const body = await text(response);
  // The framing (RFC 9112) and the date may differ.
  const { date, connection, 'transfer-encoding': framing, ...headers } = response.headers;
  return { status: response.statusCode, headers, body, framing };
}

test.each([
  ['the page', '/'],
  ['the page with an error', '/?u=http://'],
  ['the page with a chain', '/?u=LINK'],
  ['the API without u', '/api'],
  ['a long URL', '/api?u=LINK'],
  ['a call', '/api?u=LINK&cb=f'],
  ['an error', '/api?u=http://'],
  ['a refusal', '/api?u=http://10.0.0.1/'],
  ['a bad callback', '/api?u=LINK&cb=1'],
  ['a chain', '/api/chain?u=LINK'],
  ['a chain with an error', '/api/chain?u=http://'],
  ['a path for POST', '/api/expand'],
  ['an unknown path', '/nope'],
])('HEAD equals GET in every header: %s', async (_, path) => {
  const { url } = await serving(testExpander().app);
  const target = new URL(path.replace('LINK', `${shortener.url}/chain/1`), url);
  await fetchHead(target, 'GET');
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const get = await fetchHead(target, 'GET');
  const head = await fetchHead(target, 'HEAD');
  expect([head.status, head.headers]).toEqual([get.status, get.headers]);
  expect(head.body).toBe('');
  // Only a page with a chain is streamed, so it has no length.
  if (get.framing !== 'chunked')
    expect(head.headers['content-length']).toBe(`${Buffer.byteLength(get.body)}`);
  else expect(path).toBe('/?u=LINK');
});
