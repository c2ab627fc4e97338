import { startShortener } from '@longhand/shortener';
import { describe, expect, onTestFinished, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { testExpander } from '../../testing/expander.ts';
import { endedExpansion } from '../expansion/chain.ts';
import { ExpansionError } from '../expansion/errors.ts';
import { createExpand } from '../expansion/expand.ts';
import { createApp } from './app.ts';

const shortener = await startShortener();

const { app } = testExpander();
const api = (parameters: Record<string, string>, path = '/api') =>
  app.request(`${path}?${new URLSearchParams(parameters)}`);

test('GET / returns a page with the title, a form and an input', async () => {
  const response = await app.request('/');
  expect(response.status).toBe(200);
  expect(await response.text()).toMatch(/Shorten URL Expand.*<form[^>]*>.*<input[^>]*>.*<\/form>/s);
});

test('"Try again" on the page skips the caches', async () => {
  let known = false;
  const { app, close } = testExpander({
    lookup: async () => (known ? [{ address: '127.0.0.1', family: 4 }] : []),
  });
  onTestFinished(close);
  /** Returns the verdict and the "Try again" link. */
  const read = async (href: string) => {
    const html = await (await app.request(href)).text();
    const [, verdict] = /class="verdict.*?">(.*?)</.exec(html) ?? [];
    const [, again = ''] = /<a href="([^"]*)">Try again</.exec(html) ?? [];
    return { verdict, again: again.replaceAll('&amp;', '&') };
  };
  const u = `new.example:${new URL(shortener.url).port}/chain/0?b=c&d`;
  const address = `/?${new URLSearchParams({ u })}`;
  expect((await read(address)).verdict).toBe('Broken link');
  known = true;
  const { verdict, again } = await read(address);
  expect(verdict).toBe('Broken link');
  expect(new URL(again, 'http://localhost').searchParams.get('u')).toBe(u);
  expect((await read(again)).verdict).toBe('Not encrypted');
});

test.each(['/api', '/api?u=', '/api?u=%20', '/api?cb=f', '/api?u=&u=', '/api?u=&u=%20&u='])(
  '/api rule 1: without u, the body is "`u` argument required." and the status 200: %s',
  async (path) => {
    const response = await app.request(path);
    expect([response.status, await response.text()]).toEqual([200, '`u` argument required.']);
  },
);

describe('/api rule 2', () => {
  test.each([
    ['returns the expanded URL as plain text', '/chain/2', {}, 'ORIGIN/chain/0'],
    ['ignores an empty cb', '/chain/2', { cb: '' }, 'ORIGIN/chain/0'],
    ['returns cb(json_string)', '/chain/2?a=1&b=2', { cb: 'f.g_$1' }, 'f.g_$1("ORIGIN/chain/0?a=1&b=2")'],
    ['percent-decodes u once', '/chain/0?x=%2541', {}, 'ORIGIN/chain/0?x=%2541'],
  ])('%s', async (_, path, parameters, body) => {
    const response = await api({ u: shortener.url + path, ...parameters });
    expect([response.status, await response.text()]).toEqual([200, body.replace('ORIGIN', shortener.url)]);
  });
});

describe('each error returns its status and one plain sentence', () => {
  test.each([
    ['invalid_url', 400, 'http://'],
    ['unsupported_scheme', 400, 'ftp://example.com/'],
    ['target_refused', 403, 'http://10.0.0.1/'],
    ['target_refused', 403, 'http://user:secret@example.com/'],
    ['target_refused', 403, 'http://example.com:6379/'],
    ['request_failed', 502, '/reset'],
    ['request_failed', 502, '/malformed'],
    ['request_failed', 502, '/headers/20000'],
  ])('%s is %i: %s', async (code, status, u) => {
    const url = u.startsWith('/') ? shortener.url + u : u;
    const response = await api({ u: url });
    const sentence = await response.text();
    expect(response.status).toBe(status);
    expect(sentence).toMatch(/^[\x20-\x7e]+$/);
    expect(await (await api({ u: url, cb: 'f' })).text()).toBe(sentence);
    const chain = await api({ u: url }, '/api/chain');
    expect([chain.status, chain.headers.get('content-type')]).toEqual([status, 'application/json']);
    expect(await chain.json()).toMatchObject({ error: { code, message: sentence }, end: { code } });
  });

  test.each([
    ...['1f', 'f()', 'a..b', 'alert(1)//', '<script>', 'f'.repeat(129), 'ünicode', 'a b', "f'", 'a;b'],
  ])('rejects the callback name %s with 400', async (name) => {
    for (const argument of ['cb', 'err']) {
      const response = await api({ u: `${shortener.url}/chain/0`, [argument]: name });
      expect(response.status).toBe(400);
      expect(await response.text()).toBe(`The \`${argument}\` argument is not a function name.`);
    }
  });

  test.each(['u=http://a.example/?x=1&u=2', 'u=&u=http://a.example/'])(
    'rejects a second u with 400: %s',
    async (query) => {
      expect((await app.request(`/api?${query}`)).status).toBe(400);
    },
  );
});

test.each([
  ['overloaded', 503, '/', '1'],
  ['overloaded', 503, '/api', '1'],
  ['overloaded', 503, '/api/chain', '1'],
  ['timeout', 504, '/api', null],
] as const)('%s is %i on %s, with Retry-After: %s', async (code, status, path, retryAfter) => {
  const ended = endedExpansion('x', new ExpansionError(code, 'Too much.'));
  const response = await createApp(createExpand(async () => ended)).request(`${path}?u=http://a.example/`);
  expect([response.status, response.headers.get('retry-after')]).toEqual([status, retryAfter]);
});

test("returns 429 and Retry-After for a list over its key's rate", async () => {
  const chargeKey = async () => {
    throw new ExpansionError('rate_limited', 'Too many.', { rate: { count: 1, period: 60, wait: 30 } });
  };
  const app = createApp(testExpander().expand, { chargeKey });
  const { status, headers } = await app.request('/api/expand?key=a', { method: 'POST', body: 'a.example' });
  expect([status, headers.get('retry-after')]).toEqual([429, '30']);
});

describe('/api?format=json', () => {
  const json = (parameters: Record<string, string>) => api({ ...parameters, format: 'json' });

  test('returns the long URL and redirect count as text/html', async () => {
    const u = `${shortener.url}/chain/2`;
    const response = await json({ u });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html']);
    const body = await response.text();
    expect(body).toMatch(/^[\x20-\x7e]+$/);
    expect(JSON.parse(body)).toEqual({
      ...{ url: u, longUrl: `${shortener.url}/chain/0`, redirects: 2 },
      ...{ reason: `It leads to ${new URL(shortener.url).host}`, warning: 'unencrypted' },
      end: { code: 'final', message: expect.any(String) },
    });
  });

  test.each<[string, number, Record<string, string>]>([
    ['empty', 400, {}],
    ['target_refused', 403, { u: 'http://10.0.0.1/' }],
    ['invalid_callback', 400, { u: 'http://a.example/', cb: 'f' }],
    ['invalid_callback', 400, { u: 'http://a.example/', err: 'f' }],
  ])('returns %s with status %i as code and message: %j', async (code, status, parameters) => {
    const response = await json(parameters);
    expect(response.status).toBe(status);
    const message = expect.stringMatching(/^[\x20-\x7e]+$/);
    const verdict = { end: expect.objectContaining({ code }), reason: expect.any(String), warning: null };
    expect(await response.json()).toEqual({ code, message, ...verdict });
  });
});

describe('an argument with another value', () => {
  test.each([
    ['/api?follow=ALL', 'The `follow` argument is ALL; it can be default or all.'],
    ['/api?format=xml', 'The `format` argument is xml; it can be text or json.'],
    ['/api?format=%3Cb%3E', 'The `format` argument is %3Cb%3E; it can be text or json.'],
  ])('is a 400 with the allowed values: %s', async (path, message) => {
    const response = await app.request(`${path}&u=http://a.example/`);
    expect([response.status, await response.text()]).toEqual([400, message]);
  });

  test('has a code in JSON, and for a list', async () => {
    const chain = await app.request('/api/chain?follow=ALL&u=http://a.example/');
    expect([chain.status, await chain.json()]).toMatchObject([400, { error: { code: 'invalid_argument' } }]);
    const list = await app.request('/api/expand?follow=ALL', { method: 'POST', body: 'http://a.example/' });
    expect(list.status).toBe(400);
  });

  test('is allowed if it is empty', async () => {
    const response = await app.request(`/api?follow=&format=&u=${shortener.url}/chain/0`);
    expect(response.status).toBe(200);
  });
});

describe('/api?err=NAME', () => {
  test.each([
    ['empty', { cb: 'f' }],
    ['invalid_url', { u: 'http://', cb: 'f' }],
    ['target_refused', { u: 'http://10.0.0.1/', cb: 'f' }],
    ['invalid_callback', { u: 'http://a.example/', cb: 'f()' }],
  ])('calls NAME with the code %s and status 200', async (code, parameters) => {
    const response = await api({ ...parameters, err: 'on.error' });
    const [, argument = ''] = /^on\.error\((\{.*\})\)$/.exec(await response.text()) ?? [];
    expect(JSON.parse(argument)).toEqual({ code, message: expect.any(String) });
    expect([response.status, response.headers.get('x-content-type-options')]).toEqual([200, null]);
  });

  test('calls cb on success', async () => {
    const u = `${shortener.url}/chain/1?err`;
    expect(await (await api({ u, cb: 'f', err: 'g' })).text()).toBe(`f("${shortener.url}/chain/0?err")`);
  });

  test('does not allow caches to serve stale errors', async () => {
    const { app } = testExpander({}, { EXPANDER_ALLOWED_NETWORKS: '' });
    const { headers } = await app.request('/api?u=http://10.0.0.1/&cb=f&err=g');
    expect(headers.get('cache-control')).toBe('public, max-age=30');
  });
});

test.each([
  ['/api', '*'],
  ['/api?u=http://', '*'],
  ['/api/chain?u=http://', '*'],
  ['/api/expand', '*'],
  ['/', null],
])('the CORS header of %s is %s unless a network is exempt', async (path, allowed) => {
  for (const [networks, origin] of Object.entries({ '': allowed, '127.0.0.0/8': null })) {
    const { app } = testExpander({}, { EXPANDER_ALLOWED_NETWORKS: networks });
    expect((await app.request(path)).headers.get('access-control-allow-origin')).toBe(origin);
  }
});

test('/api/chain lists every hop and explains why the chain ended', async () => {
  const [u, end] = [1, 0].map((hop) => `${shortener.url}/chain/${hop}?new`);
  const response = await api({ u: `${u}` }, '/api/chain');
  expect(response.headers.get('content-type')).toBe('application/json');
  const first = { url: u, status: 301, location: end, tls: false };
  const last = { url: end, status: 200, location: null, addressFamily: 4 };
  expect(await response.json()).toEqual({
    ...{ url: u, follow: 'default', longUrl: end, redirectCount: 1, cached: false, error: null },
    hops: [expect.objectContaining(first), expect.objectContaining(last)],
    end: { code: 'final', message: expect.any(String) },
    ...{ reason: `It leads to ${new URL(shortener.url).host}`, warning: 'unencrypted' },
  });
});

test('/openapi.json describes every route of the API', async () => {
  const response = await app.request('/openapi.json');
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html']);
  const { paths, info } = JSON.parse(await response.text());
  expect(info.version).toBe(manifest.version);
  expect(paths['/api'].get.responses).toHaveProperty('401');
  const routes = app.routes.map(({ path }) => path).filter((path) => path.startsWith('/api'));
  expect(Object.keys(paths).sort()).toEqual([...new Set(routes)].sort());
});

test.each(['/nope', '/api/', '/API', '/api/chain/x', '/index.html', '//', '/favicon.ico'])(
  'an unknown path returns 404 with the body "Page Not Found!": %s',
  async (path) => {
    const response = await app.request(path);
    expect(response.status).toBe(404);
    expect(await response.text()).toBe('Page Not Found!');
  },
);

test('a visitor of an unknown path reads the same text, which leads back', async () => {
  const response = await app.request('/nope', { headers: { 'Sec-Fetch-Mode': 'navigate' } });
  expect([response.status, response.headers.get('content-type')]).toEqual([404, 'text/html']);
  const html = await response.text();
  expect(html.replace(/^.*<\/title>/, '').replace(/<.*?>/g, '')).toBe('Page Not Found!');
  expect(html).toContain('<a href="/">');
});

test.each(['/api', '/api/chain', '/api/expand'])(
  'scripts of any origin may send JSON and keys to %s',
  async (path) => {
    const preflight = { Origin: 'http://a.example', 'Access-Control-Request-Method': 'POST' };
    const ask = (networks: string) =>
      testExpander({}, { EXPANDER_ALLOWED_NETWORKS: networks }).app.request(path, {
        method: 'OPTIONS',
        headers: preflight,
      });
    const { status, headers } = await ask('');
    expect(status).toBe(204);
    expect(Object.fromEntries(headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD, POST',
      'access-control-allow-headers': 'Authorization, Content-Type',
    });
    const exempt = await ask('127.0.0.0/8');
    expect([exempt.status, exempt.headers.get('access-control-allow-origin')]).toEqual([405, null]);
  },
);

test.each(['/', '/api', '/api/chain', '/openapi.json'])(
  'an unsupported method on %s returns 405 with Allow',
  async (path) => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const { status, headers } = await app.request(path, { method });
      expect([method, status, headers.get('allow')]).toEqual([method, 405, 'GET, HEAD']);
    }
  },
);
