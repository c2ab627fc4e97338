import { headOf, send } from '@longhand/shared/testing/send.ts';
import { startShortener } from '@longhand/shortener';
import { expect, onTestFinished, test, vi } from 'vitest';
import { testExpander } from '../../testing/expander.ts';
import { serving } from '../../testing/serving.ts';

const shortener = await startShortener();

test.each([
  ...['/', '/?u=http://', '/?u=LINK'],
  ...['/api', '/api?u=LINK', '/api?u=LINK&cb=f', '/api?u=LINK&cb=1'],
  ...['/api?u=http://', '/api?u=http://10.0.0.1/'],
  ...['/api/chain?u=LINK', '/api/chain?u=http://', '/api/expand', '/nope'],
])('HEAD returns the headers of GET: %s', async (path) => {
  const { port } = await serving(testExpander().app);
  const target = path.replace('LINK', `${shortener.url}/chain/1`);
  await send(port, target);
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const get = await send(port, target);
  const head = await send(port, target, { method: 'HEAD' });
  expect(headOf(head)).toEqual(headOf(get));
  expect(head.body).toBe('');
  // Pages with a chain are streamed, so they have no Content-Length.
  const length = path === '/?u=LINK' ? undefined : `${Buffer.byteLength(get.body)}`;
  expect(head.headers['content-length']).toBe(length);
});
