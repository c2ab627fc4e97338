import { serve } from '@longhand/shared/serve.ts';
import { headOf, open } from '@longhand/shared/testing/send.ts';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { storeId, testApp } from '../testing/app.ts';
import { startStore } from '../testing/store.ts';

let kept: Awaited<ReturnType<typeof startStore>>;
let port: number;
let app: ReturnType<typeof testApp>;
const stop = new AbortController();

beforeAll(async () => {
  kept = await startStore();
  const tasks = Array.from({ length: 120 }, (_, i) => `task ${i} ${'x'.repeat(20)}`);
  await Promise.all(tasks.map((title) => kept.store.create({ title }, new Date())));
  app = testApp(kept.store);
  ({ port } = await serve(app, { host: '127.0.0.1', port: 0, signal: stop.signal }));
});
afterAll(async () => {
  stop.abort();
  await kept.stop();
});

/** Status and headers, except for connection headers (RFC 9110, section 7.6.1). */
async function request(method: string, path: string, more: Record<string, string>) {
  const headers = { Cookie: `session-${storeId}=AAAAAAAAAAAAAAAAAAAAAA`, ...more };
  const response = await open(port, path, { method, headers });
  response.destroy();
  return headOf({ status: response.statusCode ?? 0, headers: response.headers });
}

/** A path for each GET route, and some paths that cause errors. */
const paths = () => {
  const routes = app.routes.filter(({ method }) => method === 'GET');
  const filled = routes.map(({ path }) => path.replace(':id', '7').replace('*', 'style.css'));
  const others = ['/?filter=finished', '/tasks?filter=none', '/tasks/export?format=json'];
  return [...new Set(filled), ...others, '/public/none', '/tasks/999', '/none'];
};

describe.each<[string, Record<string, string>]>([
  ['without a preference', {}],
  ['as JSON', { Accept: 'application/json' }],
])('%s', (_case, headers) => {
  test('HEAD returns the same status and headers as GET on every route', async () => {
    // @hono/node-server reports unsendable responses to console.error.
    const faults = vi.spyOn(console, 'error').mockImplementation(() => {});
    onTestFinished(() => faults.mockRestore());
    for (const path of paths()) {
      const get = await request('GET', path, headers);
      const varies = (get.vary ?? '').toLowerCase().split(/\s*,\s*/);
      expect([path, varies]).toEqual([path, [...new Set(varies)]]);
      expect([path, await request('HEAD', path, headers)]).toEqual([path, get]);
    }
    expect(faults.mock.calls).toEqual([]);
  });

  test('a 304 has the same ETag, Vary and Cache-Control as the 200', async () => {
    for (const path of paths()) {
      const { etag: tag, ...found } = await request('GET', path, headers);
      if (!tag || found.status !== 200) continue;
      for (const known of [tag, tag.replace(/^(W\/)?/, 'W/'), `"other", ${tag}`, '*']) {
        const conditional = { ...headers, 'If-None-Match': known };
        for (const method of ['GET', 'HEAD']) {
          const { status, etag, vary, ...rest } = await request(method, path, conditional);
          expect([path, known, status, etag, vary]).toEqual([path, known, 304, tag, found.vary]);
          expect(rest['cache-control']).toBe(found['cache-control']);
        }
      }
    }
  });
});
