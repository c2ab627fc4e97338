import { createHash } from 'node:crypto';
import { headOf, send, sendRaw } from '@longhand/shared/testing/send.ts';
import { describe, expect, test, vi } from 'vitest';
import { openSession } from '../testing/session.ts';
import type { TestStack } from '../testing/test-stack.ts';

/** The paths of the front page and of the documents that it links to. */
const documentPaths = [
  '',
  ...['install', 'configuration', 'operate', 'api', 'changelog'].map((name) => `docs/${name}`),
];

/** The rules of the proxy. */
export function proxyRules(stack: () => TestStack): void {
  const index = (path = '/', options = {}) =>
    send(stack().port, path, { host: `elsewhere.example:${stack().port}`, ...options });

  describe('Any other host name', () => {
    test('gets a page with links to both applications, by their ports on this host, and to the documents', async () => {
      const { expanderPort, tasksPort } = stack();
      const { status, headers, body } = await index();
      expect([status, headers['content-type']]).toEqual([200, 'text/html']);
      const links = [...body.matchAll(/<a [^>]*href="([^"]+)"/g)].map(([, href = '']) => href);
      const [expander, tasks, ...documents] = links;
      expect([expander, tasks]).toEqual([
        `http://elsewhere.example:${expanderPort}/`,
        `http://elsewhere.example:${tasksPort}/`,
      ]);
      expect(documents).toEqual(documentPaths.slice(1));
    });

    test.each(['/', '/longhand/'])(
      'serves the documents, and all their links lead somewhere: %s',
      async (front) => {
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
      },
    );

    test('no header can inject markup into the page', async () => {
      const response = await sendRaw(
        stack().port,
        'GET / HTTP/1.1\r\nHost: a"><b>.example\r\nConnection: close\r\n\r\n',
      );
      expect(response).not.toContain('<b>');
    });

    test.each(['/', '/nowhere', '/docs/api'])(
      'the Content-Security-Policy of %s allows its style and nothing else',
      async (path) => {
        const { headers, body } = await index(path);
        const style = /<style>(.*?)<\/style>/s.exec(body)?.[1] ?? '';
        const hash = createHash('sha256').update(style).digest('base64');
        expect(headers['content-security-policy']).toMatch(
          new RegExp(`style-src [^;]*'sha256-${RegExp.escape(hash)}'; img-src data:; base-uri 'none'`),
        );
      },
    );
  });

  test('every response has one request id of its own; none comes from a client', async () => {
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

  test('an error page cannot be requested: its path leads to the application', async () => {
    for (const path of ['/error', '/x/%2e%2e/error', '/error.html']) {
      expect((await send(stack().expanderPort, path)).body).toBe('Page Not Found!');
    }
    expect((await send(stack().expanderPort, '/%2e%2e/error')).status).toBe(400);
  });

  test.each<[string, Record<string, string>]>([
    ['identity', {}],
    ['gzip', { 'Accept-Encoding': 'gzip' }],
    ['gzip, JSON', { 'Accept-Encoding': 'gzip', Accept: 'application/json' }],
  ])('HEAD has all headers of GET, and a 304 the ETag and Vary of its 200: %s', async (_, headers) => {
    const { expanderPort, tasksPort, shortener } = stack();
    const session = openSession(tasksPort);
    await session.add('ö'.repeat(400));
    const [{ _id } = { _id: '' }] = await session.tasks();
    const link = (path: string) => encodeURIComponent(shortener + path);
    const asked: [number, string[]][] = [
      [
        tasksPort,
        ['/', '/tasks', `/tasks/${_id}`, '/tasks/export', '/public/style.css', '/openapi.json', '/nothing'],
      ],
      [
        expanderPort,
        ['/', `/api?u=${link('/chain/1')}`, `/api/chain?u=${link(`/chain/0?${'x'.repeat(2_000)}`)}`],
      ],
    ];
    for (const [port, path] of asked.flatMap(([port, paths]) => paths.map((path) => [port, path] as const))) {
      const ask = async (method: string, more = {}) => {
        const options = {
          method,
          headers: { Cookie: 'session=AAAAAAAAAAAAAAAAAAAAAA', ...headers, ...more },
        };
        const { vary = '', ...head } = headOf(await send(port, path, options));
        // A cached response ages.
        const lifetime = `${head['cache-control']}`.replace(/\d+/, 'seconds');
        return { ...head, 'cache-control': lifetime, vary: `${vary}`.toLowerCase().split(', ').toSorted() };
      };
      await ask('GET');
      // nginx sends a response before it has cached it.
      const get = await vi.waitFor(
        async () => {
          const get = await ask('GET');
          expect([path, await ask('HEAD')]).toEqual([path, get]);
          return get;
        },
        { timeout: 10_000 },
      );
      expect([path, get.vary]).toEqual([path, [...new Set(get.vary)]]);
      const etag = 'etag' in get && get.status === 200 ? get.etag : undefined;
      for (const known of etag ? [etag, '*'] : [])
        expect([path, await ask('GET', { 'If-None-Match': known })]).toMatchObject([
          path,
          { status: 304, etag, vary: get.vary },
        ]);
    }
  });

  test.each(['bytes=0-1', 'bytes=0-1,3-4', 'bytes=0-0,-1,5-6', 'bytes=999999-', 'bytes=x', 'lines=1-2'])(
    'a public file ignores Range: %s',
    async (Range) => {
      for (const encoding of ['identity', 'gzip']) {
        const options = { headers: { Range, 'Accept-Encoding': encoding } };
        const { status, headers } = await send(stack().tasksPort, '/public/style.css', options);
        expect([status, headers['content-type']]).toEqual([200, expect.stringMatching(/^text\/css/)]);
      }
    },
  );

  test.each(['/livez', '/readyz', '/metrics'])('the proxy does not expose %s', async (path) => {
    const { expanderPort, tasksPort } = stack();
    for (const port of [expanderPort, tasksPort]) expect((await send(port, path)).status).toBe(404);
    expect((await index(path)).status).toBe(404);
  });
}
