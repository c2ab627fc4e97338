import { type IncomingHttpHeaders, request } from 'node:http';
import { serve } from '@longhand/shared/serve.ts';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { testApp } from '../testing/app.ts';
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

/** Status and headers, without the date and those of the connection (RFC 9110, section 7.6.1). */
async function ask(method: string, path: string, headers: Record<string, string>) {
  const response = await new Promise<{ statusCode?: number; headers: IncomingHttpHeaders }>(
    (resolve, reject) => {
      const sent = request({ port, method, path, headers: { Cookie: session, ...headers } }, (answer) => {
        resolve(answer);
        answer.destroy();
      });
      sent.on('error', reject).end();
    },
  );
  const {
    date,
    connection,
    'keep-alive': keepAlive,
    'transfer-encoding': coding,
    ...rest
  } = response.headers;
  return { status: response.statusCode, ...rest };
}
const session = 'session=AAAAAAAAAAAAAAAAAAAAAA';

/** A path of each GET route, and some errors. */
const paths = () => [
  ...new Set(
    app.routes
      .filter(({ method }) => method === 'GET')
      .map(({ path }) => path.replace(':id', '7').replace('*', 'style.css')),
  ),
  ...[
    '/?filter=finished',
    '/tasks?filter=none',
    '/tasks/export?format=json',
    '/public/none',
    '/tasks/999',
    '/none',
  ],
];

describe.each([
  ['without a preference', {}],
  ['as JSON', { Accept: 'application/json' }],
] as [string, Record<string, string>][])('%s', (_case, headers) => {
  test('HEAD has the status and headers of GET on every route', async () => {
    // @hono/node-server reports unsendable responses there.
    const faults = vi.spyOn(console, 'error').mockImplementation(() => {});
    onTestFinished(() => faults.mockRestore());
    for (const path of paths()) {
      const get = (await ask('GET', path, headers)) as IncomingHttpHeaders;
      const varies = (get.vary ?? '').toLowerCase().split(/\s*,\s*/);
      expect([path, varies]).toEqual([path, [...new Set(varies)]]);
      expect([path, await ask('HEAD', path, headers)]).toEqual([path, get]);
    }
    expect(faults.mock.calls).toEqual([]);
  });

  test('a 304 has the validators of the 200, for the tag, its weak form and *', async () => {
    for (const path of paths()) {
      const found = (await ask('GET', path, headers)) as IncomingHttpHeaders & { status: number };
      if (!found.etag || found.status !== 200) continue;
      for (const tag of [found.etag, found.etag.replace(/^(W\/)?/, 'W/'), `"other", ${found.etag}`, '*']) {
        for (const method of ['GET', 'HEAD']) {
          const { status, etag, vary, ...rest } = await ask(method, path, {
            ...headers,
            'If-None-Match': tag,
          });
          expect([path, tag, status, etag, vary]).toEqual([path, tag, 304, found.etag, found.vary]);
          expect(rest['cache-control']).toBe(found['cache-control']);
        }
      }
    }
  });
});
