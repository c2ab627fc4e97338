import { createServer, type RequestListener } from 'node:http';
import { cutOff, listening } from '@longhand/shared/testing/listening.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { testExpander } from '../../testing/expander.ts';

/** A website that answers as `handle` says, and the expander's `trace` of it. */
async function website(handle: RequestListener) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.cookie ?? ''}`.trim());
    handle(request, response);
  });
  const port = await listening(server);
  onTestFinished(() => cutOff(server));
  const origin = `http://127.0.0.1:${port}`;
  const { app, expand } = testExpander();
  return { origin, asked, app, trace: (path: string) => expand.trace(origin + path, { follow: 'all' }) };
}

/** Sets a cookie and redirects to the same URL; with the cookie it leads on to /in. */
const wall: RequestListener = ({ url, headers }, response) => {
  if (url === '/in') return void response.writeHead(200, { 'Content-Type': 'text/plain' }).end();
  const known = /\bid=\d+/.test(headers.cookie ?? '');
  response.writeHead(302, known ? { Location: '/in' } : { Location: `${url}`, 'Set-Cookie': 'id=7' }).end();
};

describe('a website that sets a cookie and redirects to itself', () => {
  test('is one without cookies, as on plain /api', async () => {
    const { origin, asked, app } = await website(wall);
    const response = await app.request(`/api/chain?u=${origin}/`);
    expect(await response.json()).toMatchObject({ end: { code: 'loop' } });
    expect(asked.filter((request) => request.includes('id='))).toEqual([]);
  });

  test('is a loop if the cookie does not help', async () => {
    const { trace, asked } = await website((_, response) =>
      response.writeHead(302, { Location: '/', 'Set-Cookie': 'a=1' }).end(),
    );
    expect((await trace('/')).end.code).toBe('loop');
    expect(asked).toEqual(['HEAD /', 'HEAD / a=1']);
  });

  test('is followed to the limit if every cookie is a new one', async () => {
    let id = 0;
    const { trace, asked } = await website((_, response) => {
      id += 1;
      response.writeHead(302, { Location: '/', 'Set-Cookie': `id=${id}` }).end();
    });
    expect((await trace('/')).end.code).toBe('max_redirects');
    expect(asked).toHaveLength(20);
  });
});

describe('an answer that depended on a cookie', () => {
  test('is asked for again by the next chain, which begins without cookies', async () => {
    const { trace, asked } = await website(wall);
    await trace('/');
    const again = await trace('/');
    expect([again.cached, again.hops.map(({ cached }) => cached)]).toEqual([false, [false, false, false]]);
    expect(asked.slice(3)).toEqual(['HEAD /', 'HEAD / id=7', 'HEAD /in id=7']);
  });

  test.each(['/api', '/api/chain'])(
    'may be cached by nobody else either, nor at the edge: %s',
    async (path) => {
      const { origin, app } = await website(wall);
      const { headers, status } = await app.request(`${path}?follow=all&u=${origin}/`);
      // nginx would believe X-Accel-Expires before Cache-Control.
      expect([status, headers.get('cache-control'), headers.get('x-accel-expires')]).toEqual([
        200,
        'no-store',
        null,
      ]);
    },
  );

  test('is not told of, and no cookie is', async () => {
    const { origin, app } = await website(wall);
    const body = await (await app.request(`/api/chain?follow=all&u=${origin}/`)).text();
    expect(body).not.toMatch(/cookie|id=7/i);
  });

  test('is another than one that only set a cookie, which is cached', async () => {
    const { trace, asked } = await website((_, response) =>
      response.writeHead(200, { 'Content-Type': 'text/plain', 'Set-Cookie': 'id=7' }).end(),
    );
    await trace('/');
    expect((await trace('/')).cached).toBe(true);
    expect(asked).toEqual(['HEAD /']);
  });
});
