import type { RequestListener } from 'node:http';
import { describe, expect, test } from 'vitest';
import { testExpander } from '../../testing/expander.ts';
import { website } from '../../testing/website.ts';
import { chainCookies } from './cookies.ts';

/** What is sent to `to` after `from` has set `lines`. */
function sent(from: string, lines: string[], to = from): string {
  const cookies = chainCookies();
  cookies.keep(lines, new URL(from));
  return cookies.header(new URL(to));
}

test('a chain begins without cookies', () => {
  expect(chainCookies().header(new URL('http://a.example/'))).toBe('');
});

describe('a cookie', () => {
  test.each([
    ['comes back', ['a=1'], 'http://a.example/x', 'http://a.example/y', 'a=1'],
    ['is for its own host', ['a=1'], 'http://a.example/', 'http://b.a.example/', ''],
    ['may be for a domain', ['a=1; Domain=a.example'], 'http://a.example/', 'http://b.a.example/', 'a=1'],
    ['is not for another domain', ['a=1; Domain=b.example'], 'http://a.example/', 'http://b.example/', ''],
    ['is not for a public suffix', ['a=1; Domain=co.uk'], 'http://a.co.uk/', 'http://b.co.uk/', ''],
    ['may be for a path', ['a=1; Path=/x'], 'http://a.example/', 'http://a.example/y', ''],
    ['is replaced', ['a=1', 'a=2'], 'http://a.example/', 'http://a.example/', 'a=2'],
    ['is removed', ['a=1', 'a=; Max-Age=0'], 'http://a.example/', 'http://a.example/', ''],
    ['that is secure goes over https', ['a=1; Secure'], 'https://a.example/', 'https://a.example/', 'a=1'],
    ['that is secure goes over nothing else', ['a=1; Secure'], 'https://a.example/', 'http://a.example/', ''],
    ['for all sites has to be secure', ['a=1; SameSite=None'], 'http://a.example/', 'http://a.example/', ''],
    ['of a prefix keeps its promise', ['__Host-a=1; Path=/'], 'https://a.example/', 'https://a.example/', ''],
    ['without a name takes no prefix', ['=__Secure-a=1'], 'https://a.example/', 'https://a.example/', ''],
    ['is for http and https', ['a=1; HttpOnly'], 'https://a.example/', 'http://a.example:8080/', 'a=1'],
  ])('%s', (_, lines, from, to, expected) => {
    expect(sent(from, lines, to)).toBe(expected);
  });

  test('set over http does not replace a secure cookie', () => {
    const cookies = chainCookies();
    cookies.keep(['a=1; Secure; Path=/x', 'b=1; Secure'], new URL('https://a.example/'));
    cookies.keep(['a=2', 'a=3; Path=/x/y', 'b=2'], new URL('http://a.example/'));
    expect(cookies.header(new URL('https://a.example/x/y'))).toBe('a=1; b=1; a=2');
  });

  test('that no header can hold is not kept', () => {
    expect(sent('http://a.example/', ['a=1\u0001', 'b=\u0142', 'c\u007f=1', 'd=\u00fc'])).toBe('d=\u00fc');
  });
});

describe('more than a browser would keep', () => {
  test('a cookie of more than 4 KiB', () => {
    expect(sent('http://a.example/', [`a=${'x'.repeat(4_095)}`, `b=${'x'.repeat(4_096)}`])).toHaveLength(
      4_097,
    );
  });

  test('more than 32 KiB of fields in a chain, or 300', () => {
    const large = Array.from({ length: 20 }, (_, i) => `${i}=${'x'.repeat(3_000)}`);
    expect(sent('http://a.example/', large).split('; ')).toHaveLength(10);
    const many = Array.from({ length: 1_000 }, (_, i) => `${i}=`);
    expect(sent('http://a.example/', many).split('; ')).toHaveLength(300);
  });
});

/** A website that answers as `handle` says, and the expander's `chain` of it. */
async function visited(handle: RequestListener) {
  const asked: string[] = [];
  const origin = await website((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.cookie ?? ''}`.trim());
    handle(request, response);
  });
  const { app, expand } = testExpander();
  return { origin, asked, app, chain: (path: string) => expand.chain(origin + path, { follow: 'all' }) };
}

/** Sets a cookie and redirects to the same URL; with the cookie it leads on to /in. */
const wall: RequestListener = ({ url, headers }, response) => {
  if (url === '/in') return void response.writeHead(200, { 'Content-Type': 'text/plain' }).end();
  const known = /\bid=\d+/.test(headers.cookie ?? '');
  response.writeHead(302, known ? { Location: '/in' } : { Location: `${url}`, 'Set-Cookie': 'id=7' }).end();
};

describe('a website that sets a cookie and redirects to itself', () => {
  test('is one without cookies, as on plain /api', async () => {
    const { origin, asked, app } = await visited(wall);
    const response = await app.request(`/api/chain?u=${origin}/`);
    expect(await response.json()).toMatchObject({ end: { code: 'loop' } });
    expect(asked.filter((request) => request.includes('id='))).toEqual([]);
  });

  test('is a loop if the cookie does not help', async () => {
    const { chain, asked } = await visited((_, response) =>
      response.writeHead(302, { Location: '/', 'Set-Cookie': 'a=1' }).end(),
    );
    expect((await chain('/')).end.code).toBe('loop');
    expect(asked).toEqual(['HEAD /', 'HEAD / a=1']);
  });

  test('is followed to the limit if every cookie is a new one', async () => {
    let id = 0;
    const { chain, asked } = await visited((_, response) => {
      id += 1;
      response.writeHead(302, { Location: '/', 'Set-Cookie': `id=${id}` }).end();
    });
    expect((await chain('/')).end.code).toBe('max_redirects');
    expect(asked).toHaveLength(20);
  });
});

describe('a response that depended on a cookie', () => {
  test('is not reused by the next chain, which begins without cookies', async () => {
    const { chain, asked } = await visited(wall);
    await chain('/');
    const again = await chain('/');
    expect([again.cached, again.hops.map(({ cached }) => cached)]).toEqual([false, [false, false, false]]);
    expect(asked.slice(3)).toEqual(['HEAD /', 'HEAD / id=7', 'HEAD /in id=7']);
  });

  test.each(['/api', '/api/chain'])(
    'is kept by no cache, at the edge neither, and tells no cookie: %s',
    async (path) => {
      const { origin, app } = await visited(wall);
      const response = await app.request(`${path}?follow=all&u=${origin}/`);
      const { status, headers } = response;
      // nginx would believe X-Accel-Expires before Cache-Control.
      const caching = [headers.get('cache-control'), headers.get('x-accel-expires')];
      expect([status, ...caching]).toEqual([200, 'no-store', null]);
      expect(await response.text()).not.toMatch(/cookie|id=7/i);
    },
  );

  test('is another than one that only set a cookie, which is cached', async () => {
    const { chain, asked } = await visited((_, response) =>
      response.writeHead(200, { 'Content-Type': 'text/plain', 'Set-Cookie': 'id=7' }).end(),
    );
    await chain('/');
    expect((await chain('/')).cached).toBe(true);
    expect(asked).toEqual(['HEAD /']);
  });
});
