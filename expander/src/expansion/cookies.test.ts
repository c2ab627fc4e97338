import type { RequestListener } from 'node:http';
import { describe, expect, test } from 'vitest';
import { testExpander } from '../../testing/expander.ts';
import { website } from '../../testing/website.ts';
import { chainCookies } from './cookies.ts';

/** Returns the `Cookie` header for `to` after `from` has sent these `Set-Cookie` headers. */
function sent(from: string, lines: string[], to = from): string {
  const cookies = chainCookies();
  cookies.keep(lines, new URL(from));
  return cookies.header(new URL(to));
}

// browsers.browser.test.ts tests more cookies.
describe('a cookie', () => {
  test('is rejected for a public suffix', () => {
    expect(sent('http://a.co.uk/', ['a=1; Domain=co.uk'], 'http://b.co.uk/')).toBe('');
  });

  test('does not replace a secure cookie if set over http', () => {
    const cookies = chainCookies();
    cookies.keep(['a=1; Secure; Path=/x', 'b=1; Secure'], new URL('https://a.example/'));
    cookies.keep(['a=2', 'a=3; Path=/x/y', 'b=2'], new URL('http://a.example/'));
    expect(cookies.header(new URL('https://a.example/x/y'))).toBe('a=1; b=1; a=2');
  });

  test('is rejected if it contains characters forbidden in headers', () => {
    expect(sent('http://a.example/', ['a=1\u0001', 'b=\u0142', 'c\u007f=1', 'd=\u00fc'])).toBe('d=\u00fc');
  });
});

test('a chain stores at most 300 cookies and 32 KiB of cookies', () => {
  const large = Array.from({ length: 20 }, (_, i) => `${i}=${'x'.repeat(3_000)}`);
  expect(sent('http://a.example/', large).split('; ')).toHaveLength(10);
  const many = Array.from({ length: 1_000 }, (_, i) => `${i}=`);
  expect(sent('http://a.example/', many).split('; ')).toHaveLength(300);
});

/** Starts an expander and a website that logs its requests. */
async function visited(handle: RequestListener) {
  const requests: string[] = [];
  const origin = await website((request, response) => {
    requests.push(`${request.method} ${request.url} ${request.headers.cookie ?? ''}`.trim());
    handle(request, response);
  });
  const { app, expand } = testExpander();
  return { origin, requests, app, chain: (path: string) => expand.chain(origin + path, { follow: 'all' }) };
}

/** Redirects to /in if the request has the cookie. Otherwise sets the cookie and redirects to the same URL. */
const wall: RequestListener = ({ url, headers }, response) => {
  if (url === '/in') return void response.writeHead(200, { 'Content-Type': 'text/plain' }).end();
  const known = /\bid=\d+/.test(headers.cookie ?? '');
  response.writeHead(302, known ? { Location: '/in' } : { Location: `${url}`, 'Set-Cookie': 'id=7' }).end();
};

describe('a website that sets a cookie and redirects to itself', () => {
  test('is reported as a loop without follow=all', async () => {
    const { origin, requests, app } = await visited(wall);
    const response = await app.request(`/api/chain?u=${origin}/`);
    expect(await response.json()).toMatchObject({ end: { code: 'loop' } });
    expect(requests.filter((request) => request.includes('id='))).toEqual([]);
  });

  test('is reported as a loop if it still redirects with the cookie', async () => {
    const { chain, requests } = await visited((_, response) =>
      response.writeHead(302, { Location: '/', 'Set-Cookie': 'a=1' }).end(),
    );
    expect((await chain('/')).end.code).toBe('loop');
    expect(requests).toEqual(['HEAD /', 'GET /', 'GET / a=1', 'GET / a=1']);
  });
});

describe('a response to a request with a cookie', () => {
  test('is not reused by the next chain', async () => {
    const { chain, requests } = await visited(wall);
    await chain('/');
    requests.length = 0;
    const again = await chain('/');
    expect([again.cached, again.hops.map(({ cached }) => cached)]).toEqual([false, [false, false, false]]);
    expect(requests).toEqual(['HEAD /', 'GET /', 'GET / id=7', 'GET /in id=7']);
  });

  test.each(['/api', '/api/chain'])(
    'is not cached by nginx and does not reveal the cookie: %s',
    async (path) => {
      const { origin, app } = await visited(wall);
      const response = await app.request(`${path}?follow=all&u=${origin}/`);
      const { status, headers } = response;
      const caching = [headers.get('cache-control'), headers.get('x-accel-expires')];
      expect([status, ...caching]).toEqual([200, 'no-store', null]);
      expect(await response.text()).not.toMatch(/cookie|id=7/i);
    },
  );
});

test('a response that only sets a cookie is cached', async () => {
  const { chain, requests } = await visited((_, response) =>
    response.writeHead(200, { 'Content-Type': 'text/plain', 'Set-Cookie': 'id=7' }).end(),
  );
  await chain('/');
  expect((await chain('/')).cached).toBe(true);
  expect(requests).toEqual(['HEAD /', 'GET /']);
});
