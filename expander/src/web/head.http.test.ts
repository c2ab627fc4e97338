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
  // The date and the framing (RFC 9112) may differ.
  const { date, connection, 'transfer-encoding': framing, ...headers } = response.headers;
  return { status: response.statusCode, headers, body };
}

test.each([
  ...['/', '/?u=http://', '/?u=LINK'],
  ...[
    '/api',
    '/api?u=LINK',
    '/api?u=LINK&cb=f',
    '/api?u=LINK&cb=1',
    '/api?u=http://',
    '/api?u=http://10.0.0.1/',
  ],
  ...['/api/chain?u=LINK', '/api/chain?u=http://', '/api/expand', '/nope'],
])('HEAD returns the headers of GET: %s', async (path) => {
  const { url } = await serving(testExpander().app);
  const target = new URL(path.replace('LINK', `${shortener.url}/chain/1`), url);
  await fetchHead(target, 'GET');
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const get = await fetchHead(target, 'GET');
  const head = await fetchHead(target, 'HEAD');
  expect([head.status, head.headers]).toEqual([get.status, get.headers]);
  expect(head.body).toBe('');
  // Pages with a chain are streamed, so they have no Content-Length.
  const length = path === '/?u=LINK' ? undefined : `${Buffer.byteLength(get.body)}`;
  expect(head.headers['content-length']).toBe(length);
});
