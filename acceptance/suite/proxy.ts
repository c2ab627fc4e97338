import { headOf, send, sendRaw } from '@longhand/shared/testing/send.ts';
import { describe, expect, test, vi } from 'vitest';
import { openSession } from '../testing/session.ts';
import type { TestStack } from '../testing/test-stack.ts';

/** Paths of the front page and its documents. */
const documentPaths = [
  '',
  ...['install', 'configuration', 'operate', 'api', 'changelog'].map((name) => `docs/${name}`),
];

/** Defines the tests of the proxy in front of both applications. */
export function proxyRules(stack: () => TestStack): void {
  const index = (path = '/', options = {}) =>
    send(stack().port, path, { host: `elsewhere.example:${stack().port}`, ...options });

  describe('Under another host name', () => {
    test('the front page links to both applications and the documents', async () => {
      const { expanderPort, tasksPort } = stack();
      const { status, headers, body } = await index();
      expect([status, headers['content-type']]).toEqual([200, 'text/html']);
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'/);
      const links = [...body.matchAll(/<a [^>]*href="([^"]+)"/g)].map(([, href = '']) => href);
      const ports = [expanderPort, tasksPort].map((port) => `http://elsewhere.example:${port}/`);
      expect(links).toEqual([...ports, ...documentPaths.slice(1)]);
    });

    test.each(['/', '/longhand/'])('the links in the documents at %s work', async (front) => {
      for (const path of documentPaths) {
        const port = front === '/' ? stack().port : stack().tasksPort;
        const { status, headers, body } = await send(port, front + path);
        expect([path, status, headers['content-type']]).toEqual([path, 200, 'text/html']);
        const links = [...body.matchAll(/href="(?!data:|http)([^"]+)"/g)].map(([, href = '']) => href);
        const base = `http://localhost${front}${path}`;
        for (const { pathname, hash } of links.map((href) => new URL(href, base))) {
          const target = await send(port, pathname);
          expect([path, pathname, target.status]).toEqual([path, pathname, 200]);
          if (hash) expect(target.body).toContain(`id="${hash.slice(1)}"`);
        }
      }
    });

    test('Host cannot inject markup into the page', async () => {
      const response = await sendRaw(
        stack().port,
        'GET / HTTP/1.1\r\nHost: a"><b>.example\r\nConnection: close\r\n\r\n',
      );
      expect(response).not.toContain('<b>');
    });
  });

  test('every response has a new request ID, even if the client sends an ID', async () => {
    const { expanderPort, tasksPort } = stack();
    const ids = new Set<unknown>();
    const headers = { 'X-Request-Id': 'mine' };
    const responses = [
      await send(expanderPort, '/', { headers }),
      await send(expanderPort, '/nowhere', { headers }),
      await send(tasksPort, '/', { headers }),
      await send(tasksPort, '/', { method: 'TRACE', headers }),
      await index('/', { headers }),
    ];
    for (const response of responses) {
      expect(response.headers['x-request-id']).toMatch(/^[0-9a-f]{32}$/);
      expect(response.headerCount('x-request-id')).toBe(1);
      ids.add(response.headers['x-request-id']);
    }
    expect(ids.size).toBe(responses.length);
  });

  test('clients cannot request the error page location', async () => {
    for (const path of ['/error', '/x/%2e%2e/error', '/error.html']) {
      expect((await send(stack().expanderPort, path)).body).toBe('Page Not Found!');
    }
    expect((await send(stack().expanderPort, '/%2e%2e/error')).status).toBe(400);
  });

  test.each(['text/html', 'application/json'])(
    'HEAD and 304 responses have the same headers as GET: %s',
    async (Accept) => {
      const { expanderPort, tasksPort, shortener } = stack();
      const session = openSession(tasksPort);
      await session.add('ö'.repeat(400));
      const Cookie = session.cookie();
      const link = encodeURIComponent(`${shortener}/chain/0?${'x'.repeat(2_000)}`);
      const tasks = ['/', '/tasks', '/tasks/export', '/public/style.css', '/openapi.json', '/nothing'];
      const expander = ['/', `/api?u=${link}`, `/api/chain?u=${link}`];
      const requests = [
        ...tasks.map((path) => ({ port: tasksPort, path })),
        ...expander.map((path) => ({ port: expanderPort, path })),
      ];
      for (const { port, path } of requests) {
        const ask = async (method: string, more = {}) => {
          const headers = { Cookie, Accept, 'Accept-Encoding': 'gzip', ...more };
          const { vary = '', ...head } = headOf(await send(port, path, { method, headers }));
          // Ignore max-age, which decreases while a response is cached.
          const lifetime = `${head['cache-control']}`.replace(/\d+/, 'seconds');
          return { ...head, 'cache-control': lifetime, vary: `${vary}`.toLowerCase().split(', ').toSorted() };
        };
        // nginx caches a response only after sending it.
        await ask('GET');
        const get = await vi.waitFor(async () => {
          const get = await ask('GET');
          expect([path, await ask('HEAD')]).toEqual([path, get]);
          return get;
        }, 10_000);
        expect([path, get.vary]).toEqual([path, [...new Set(get.vary)]]);
        const etag = 'etag' in get && get.status === 200 ? get.etag : undefined;
        for (const known of etag ? [etag, '*'] : [])
          expect([path, await ask('GET', { 'If-None-Match': known })]).toMatchObject([
            path,
            { status: 304, etag, vary: get.vary },
          ]);
      }
    },
  );

  test.each(['bytes=0-1', 'bytes=0-1,3-4', 'bytes=0-0,-1,5-6', 'bytes=999999-', 'bytes=x', 'lines=1-2'])(
    'Range has no effect on public files: %s',
    async (Range) => {
      const headers = { Range, 'Accept-Encoding': 'gzip' };
      const response = await send(stack().tasksPort, '/public/style.css', { headers });
      expect([response.status, response.headers['content-type']]).toEqual([
        200,
        expect.stringMatching(/^text\/css/),
      ]);
    },
  );

  test.each(['/livez', '/readyz', '/metrics'])('the proxy does not expose %s', async (path) => {
    const { expanderPort, tasksPort } = stack();
    for (const port of [expanderPort, tasksPort]) expect((await send(port, path)).status).toBe(404);
    expect((await index(path)).status).toBe(404);
  });
}
