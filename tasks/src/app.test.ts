import { beforeEach, describe, expect, test } from 'vitest';
import { formFields, storeId, submit, testApp, useApp, visit } from '../testing/app.ts';
import { TaskError } from './task/errors.ts';
import type { TaskStore } from './task/task.ts';
import { securityHeaders } from './web/responses.ts';

const kept = useApp();

const titles = async () => (await kept.store.list({ filter: 'all' })).tasks.map(({ title }) => title);
const create = async (title: string) => (await kept.store.create({ title }, kept.now)).task;
/** Sends the list's form from a new browser session. */
const add = async (fields: Record<string, string>, headers: Record<string, string> = {}) =>
  submit(kept.app, '/task', fields, await visit(kept.app), headers);
const get = (path: string, headers?: Record<string, string>) => kept.app.request(path, { headers });
const page = async (path = '/', headers?: Record<string, string>) => (await get(path, headers)).text();
/** Expects an uncacheable 302 to / with an empty body. */
async function expectRedirect(response: Response) {
  const { status, headers } = response;
  const cacheControl = headers.get('cache-control');
  expect([status, headers.get('location'), cacheControl]).toEqual([302, '/', 'no-store, no-cache']);
  expect(await response.text()).toBe('');
}

describe('GET /', () => {
  test('lists open tasks before finished tasks, each by descending _id', async () => {
    for (const title of ['one', 'two', 'three']) await create(title);
    await kept.store.update('3', { finished: 1 }, kept.now);
    const response = await get('/');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=UTF-8');
    expect((await response.text()).match(/(?<=<li id="task-)\d+/g)).toEqual(['2', '1', '3']);
  });

  test('shows an open task with its title and a link to /task/<id>/finish', async () => {
    await create('milk');
    const html = await page();
    expect(html).toContain('milk');
    expect(html).toContain('href="/task/1/finish" rel="nofollow"');
    expect(html).not.toMatch(
      /speculationrules|prefetch|prerender|\/1\/unfinish|<li[^>]*class="[^"]*finished/,
    );
  });

  test('shows a finished task struck through, with a link to /task/<id>/unfinish and class "finished"', async () => {
    await create('milk');
    await kept.store.update('1', { finished: 1 }, kept.now);
    const html = await page();
    expect(html).toMatch(/<s\b[^>]*>milk<\/s>/);
    expect(html).toContain('href="/task/1/unfinish" rel="nofollow"');
    expect(html).toMatch(/<li[^>]*class="finished"/);
  });

  test('has a form for POST /task with a hidden _csrf field and a nonce', async () => {
    const html = await page();
    expect(html).toMatch(/<meta name="description" content="[^"]{20,160}">/);
    expect(html).toMatch(/<form action="\/task" method="post"/);
    expect(html).toMatch(/<input type="hidden" name="_csrf" value="[\w-]{86}">/);
    expect(html).toMatch(/<input type="hidden" name="nonce" value="[\w-]{36}">/);
  });

  test('has an icon with the number of open tasks', async () => {
    expect(await page('/icon?open=7')).toContain('>7</text>');
    expect(await page('/icon?open=100')).toContain('>99+</text>');
    expect((await get('/icon?open=7')).headers.get('content-type')).toBe('image/svg+xml');
    for (const other of ['1.5<', '0', ''])
      expect((await get(`/icon?open=${other}`)).headers.get('location')).toMatch(/\/icon\.svg$/);
  });

  test("links to the proxy's front page only behind the proxy", async () => {
    const link = '<a href="/longhand/">Longhand</a>';
    expect(await page('/', { 'X-Request-Id': '0'.repeat(32) })).toContain(link);
    expect(await page()).not.toContain(link);
  });

  test('shows times only on the pages of a single task', async () => {
    const { _id } = await create('milk');
    const when = async (path = `/tasks/${_id}/edit`) => {
      const [, words = ''] = /<p class="when">(.*?)<\/p>/s.exec(await page(path)) ?? [];
      return words.replace(/<[^>]*>/g, '').replace(/\s+/g, ' ');
    };
    expect(await when()).toBe('added 2 Jan 2026, 03:04 UTC');
    await get(`/task/${_id}/finish`);
    expect(await when()).toMatch(/^added \d.*, finished \d/);
    await get(`/task/${_id}/unfinish`);
    expect(await when(`/tasks/${_id}`)).toMatch(/^added \d.*, reopened \d/);
    expect(await when('/')).toBe('');
  });

  test("waits for the client's turn to render later pages and search results", async () => {
    for (let i = 0; i < 110; i += 1) await create(`task ${i}`);
    const { next } = await kept.store.list({ filter: 'all' });
    for (const path of [`/?after=${next}`, '/?q=task']) {
      const served = new Set<string>();
      const turns = async (clients: () => Iterable<string>) => void served.add([...clients()].join());
      await testApp(kept.store, { turns }).request(path, { headers: { 'X-Forwarded-For': '192.0.2.1' } });
      expect([path, ...served]).toEqual([path, '192.0.2.1']);
    }
  });

  test('truncates the search text in links to 100 characters', async () => {
    await create('milk');
    expect((await page(`/?q=${'milk+'.repeat(1_000)}`)).length).toBeLessThan(10_000);
  });

  test.each(['filter=none', 'after=1', 'after=', 'after=-1%00'])('%s returns a 400 page', async (query) => {
    const response = await get(`/?${query}`);
    expect(response.status).toBe(400);
    expect(await response.text()).toMatch(/<h1>(This page of the list does not exist|The filter must be)/);
  });
});

describe('POST /task', () => {
  test('adds an open task and redirects to / with 302 and an empty body, even with Accept: application/json', async () => {
    const ignored = { finished: 'often', removal: 'none' };
    await expectRedirect(await add({ title: ' cafe\u0301 ', ...ignored }, { Accept: 'application/json' }));
    expect(await kept.store.show('1')).toMatchObject({
      title: 'caf\u00e9',
      finished: 0,
      created_at: kept.now.toISOString(),
    });
  });

  test.each([
    ['a blank title', ' '],
    ['a title that is too long', 'x'.repeat(501)],
    ['a title with a control character', 'a\0b'],
  ])('%s returns 422 and a form with the title and the reason', async (_, title) => {
    const response = await add({ title });
    expect(response.status).toBe(422);
    const html = await response.text();
    expect(html).toContain(`name="title" value="${title}"`);
    expect(html).toContain('aria-describedby="problem"');
    expect(html).toMatch(/<p id="problem"[^>]*>A t/);
    expect(await titles()).toEqual([]);
  });

  const post = (body: Buffer | ReadableStream | string, more: Record<string, string> = {}) => {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded', ...more };
    return kept.app.request('/task', { method: 'POST', headers, body, duplex: 'half' } as RequestInit);
  };
  /** Sends a title without encoding it. */
  const addRaw = async (title: string) => {
    const { cookie: Cookie, token } = await visit(kept.app);
    return post(Buffer.from(`_csrf=${token}&title=${title}`, 'latin1'), { Cookie });
  };

  test('accepts a body of up to 64 KiB', async () => {
    // 403 means that the size was accepted, because the token is checked next.
    expect((await post(`title=${'x'.repeat(64 * 1024 - 6)}`)).status).toBe(403);
    expect((await post(`title=${'x'.repeat(64 * 1024 - 5)}`)).status).toBe(413);
    expect((await post(new ReadableStream(), { 'Content-Length': `${64 * 1024 + 1}` })).status).toBe(413);
    expect(await titles()).toEqual([]);
    // A stray percent sign is valid.
    expect((await addRaw('100%')).status).toBe(302);
    expect(await titles()).toEqual(['100%']);
  });

  test.each([
    ['percent-encoded', 'caf%E9+au+lait'],
    ['raw', 'caf\xe9+au+lait'],
    ['a surrogate', 'caf%ED%A0%80+au+lait'],
    ['cut short', 'caf+au+lait%F0%9F%98'],
  ])('invalid UTF-8 (%s) returns 400 and a form with the readable characters', async (_, title) => {
    const response = await addRaw(title);
    expect(response.status).toBe(400);
    const html = await response.text();
    expect(html).toContain('This text is not UTF-8');
    expect(html).toMatch(/name="title" value="caf.* au lait/);
    expect(await titles()).toEqual([]);
  });
});

describe('A retry adds nothing after the task was deleted:', () => {
  const form = (path: string, fields: Record<string, string>) => async () =>
    submit(kept.app, path, { nonce: 'nonce', ...fields }, await visit(kept.app));
  const program = (path: string, type: string, body: string) => () => {
    const headers = { 'Content-Type': type, 'Idempotency-Key': 'key' };
    return kept.app.request(path, { method: 'POST', headers, body });
  };
  const file = async () => {
    const { token, cookie: Cookie } = await visit(kept.app);
    const body = new FormData();
    body.set('_csrf', token);
    body.set('nonce', 'nonce');
    body.set('file', new Blob(['milk']), 'a.txt');
    return kept.app.request('/tasks/import', { method: 'POST', body, headers: { Cookie } });
  };
  test.each([
    ['a form', form('/task', { title: 'milk' }), 'has been deleted since'],
    ['a pasted list', form('/task', { text: 'milk' })],
    ['JSON with an Idempotency-Key', program('/tasks', 'application/json', '{"title":"milk"}')],
    ['lines to import', form('/tasks/import', { text: 'milk' })],
    ['a file to import', file],
    ['an import with a key', program('/tasks/import', 'application/x-ndjson', '{"title":"milk"}')],
  ])('%s', async (_, send, said = '') => {
    const { status } = await send();
    expect(await titles()).toEqual(['milk']);
    await kept.store.destroy('1', 'removal');
    kept.now = new Date(kept.now.getTime() + 1);
    const retry = await send();
    expect(retry.status).toBe(status);
    expect(await titles()).toEqual([]);
    expect(await (await kept.app.request(retry.headers.get('location') ?? '/')).text()).toContain(said);
  });
});

describe('Request forgery', () => {
  test('each page has a new token, while earlier tokens stay valid', async () => {
    const first = await visit(kept.app);
    const second = { ...first, ...(await visit(kept.app, { Cookie: first.cookie })) };
    expect(second.token).not.toBe(first.token);
    for (const visitor of [first, second])
      expect((await submit(kept.app, '/task', { title: 'milk' }, visitor)).status).toBe(302);
  });

  test('the first response sets a session cookie (__Host- and Secure over TLS)', async () => {
    const cookieFor = async (headers = {}) => (await get('/', headers)).headers.get('set-cookie');
    const cookie = (await cookieFor()) ?? '';
    expect(cookie).toMatch(/^session-963eb692=[\w-]{22}; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(await cookieFor({ Cookie: cookie.split(';')[0] })).toBeNull();
    const https = { 'X-Forwarded-Proto': 'https' };
    expect(await cookieFor(https)).toMatch(
      /^__Host-session-963eb692=[\w-]{22}; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    const plain = await visit(kept.app);
    expect((await submit(kept.app, '/task', { title: 'milk' }, plain, https)).status).toBe(403);
  });

  test.each([
    ['no token', { token: '' }],
    ['no cookie', { cookie: '' }],
    ['an empty cookie', { cookie: `session-${storeId}=` }],
    ["another session's token", { cookie: `session-${storeId}=AAAAAAAAAAAAAAAAAAAAAA` }],
    ['a short token', { token: 'AAAA' }],
    ['a token that is not base64', { token: '<>' }],
  ])('%s returns 403 and a form with the title and a valid token', async (_case, wrong) => {
    const given = { ...(await visit(kept.app)), ...wrong };
    const response = await submit(kept.app, '/task', { title: 'milk & "bread"' }, given);
    expect(response.status).toBe(403);
    expect(response.headers.get('cache-control')).toBe('no-store, no-cache');
    const html = await response.text();
    expect(html).toContain('value="milk &amp; &quot;bread&quot;"');
    expect(await titles()).toEqual([]);
    const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? given.cookie;
    const again = await submit(kept.app, '/task', { title: 'milk' }, { cookie, ...formFields(html) });
    expect(again.status).toBe(302);
  });

  test('a form from a browser without cookies says so', async () => {
    const { token, cookie } = await visit(kept.app);
    const send = async (cookie: string) =>
      (await submit(kept.app, '/task', { title: 'milk' }, { token, cookie })).text();
    expect(await send('')).toContain(
      'If it fails again, your browser blocks cookies. Allow them for this page.',
    );
    const expired = await send(`${cookie.slice(0, -1)}_`);
    expect(expired).toContain('This form has expired');
    expect(expired).not.toContain('cookies');
  });

  test.each<[Record<string, string>, number]>([
    [{ 'Sec-Fetch-Site': 'cross-site' }, 403],
    [{ 'Sec-Fetch-Site': 'same-site' }, 403],
    [{ Origin: 'http://evil.example' }, 403],
    [{ Origin: 'http://localhost:1' }, 403],
    [{ Origin: 'null' }, 403],
    [{ 'Sec-Fetch-Site': 'same-origin' }, 302],
    [{ Origin: 'http://localhost' }, 302],
    [{}, 302],
  ])('checks the origin of forms and JSON requests: %o (%i for forms)', async (headers, status) => {
    expect((await add({ title: 'milk' }, headers)).status).toBe(status);
    const init = { method: 'POST', body: '{"title":"milk"}' };
    const json = { ...headers, 'Content-Type': 'application/json', Accept: 'application/json' };
    const response = await kept.app.request('/tasks', { ...init, headers: json });
    expect(response.status).toBe(status === 302 ? 201 : 403);
    expect(await titles()).toEqual(status === 302 ? ['milk', 'milk'] : []);
  });
});

describe.each([
  ['finish', 0, 1],
  ['unfinish', 1, 0],
] as const)('GET /task/:id/%s', (link, before, after) => {
  const path = `/task/1/${link}`;
  const finished = async () => (await kept.store.show('1')).finished;
  beforeEach(async () => {
    await create('milk');
    await kept.store.update('1', { finished: before }, kept.now);
  });

  test('changes the task once, sets updated_at and redirects to / with 302 and an empty body', async () => {
    await expectRedirect(await get(path));
    expect(await kept.store.show('1')).toMatchObject({ finished: after, updated_at: kept.now.toISOString() });
    const once = await kept.store.show('1');
    kept.now = new Date('2026-02-03T04:05:06.789Z');
    await expectRedirect(await get(path));
    expect(await kept.store.show('1')).toEqual(once);
  });

  test('does not change the task if the method is HEAD', async () => {
    const head = async (path: string) => (await kept.app.request(path, { method: 'HEAD' })).status;
    expect([await head(path), await head(`/task/2/${link}`)]).toEqual([302, 404]);
    expect(await finished()).toBe(before);
  });

  test.each([
    { 'Sec-Purpose': 'prefetch' },
    { 'Sec-Purpose': 'prefetch;prerender' },
    { Purpose: 'prefetch' },
    { 'X-Purpose': 'preview' },
    { 'X-Sec-Purpose': 'prefetch' },
    { 'X-Moz': 'prefetch' },
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Dest': 'image', 'Sec-Fetch-Mode': 'no-cors' },
    // Browsers send no Sec-Fetch-Site to named hosts over plain HTTP.
    { Referer: 'http://evil.example/page' },
    { Referer: 'http://localhost:1/' },
    { Origin: 'http://evil.example' },
    { Origin: 'null' },
    // Over plain HTTP, another site can suppress `Origin` and `Referer` too.
    { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64)' },
  ])('returns a 403 page for %o and does not change the task', async (headers) => {
    const response = await get(path, headers as never);
    expect(response.status).toBe(403);
    expect(await response.text()).toMatch(/<h1>This (link|request|browser)/);
    expect(await finished()).toBe(before);
  });

  test.each([
    { 'Sec-Fetch-Site': 'same-origin' },
    { 'Sec-Fetch-Site': 'none' },
    { 'Sec-Fetch-Site': 'none', Referer: 'http://elsewhere.example/' },
    { Referer: 'http://localhost/?filter=open' },
    { Referer: 'http://localhost/', 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64)' },
    { 'Sec-Fetch-Site': 'none', 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64)' },
    { 'User-Agent': 'curl/8.5.0' },
    {},
  ])('accepts %o', async (headers) => {
    expect((await get(path, headers as never)).status).toBe(302);
    expect(await finished()).toBe(after);
  });

  test.each(['2', '01', '%31', '%31%2F', '%E2%82'])('returns a 404 page for the id %s', async (id) => {
    const response = await get(`/task/${id}/${link}`);
    expect(response.status).toBe(404);
    expect(await response.text()).toMatch(/<h1>There is no such task. Somebody may have deleted it/);
  });
});

describe('Unknown paths and methods', () => {
  test('an unknown path returns 404', async () => {
    for (const path of ['/nothing', '/task/1', '/task/', '/tasks/1/nothing', '/public'])
      expect((await get(path)).status, path).toBe(404);
  });

  test.each([
    ...['/', '/task/1/finish', '/task/1/unfinish', '/public/style.css'].map((path) => [path, 'GET, HEAD']),
    ...['/tasks/partial', '/tasks/events', '/tasks/export', '/tasks/new'].map((path) => [path, 'GET, HEAD']),
    ['/task', 'POST'],
    ['/tasks/import', 'GET, HEAD, POST'],
    ['/tasks/finished', 'DELETE, POST'],
    ['/tasks/restore', 'POST'],
  ] as [string, string][])('%s returns 405 with Allow for all methods except %s', async (path, allow) => {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH']) {
      const response = await kept.app.request(path, { method });
      const allowed = allow.split(', ').includes(method);
      expect([method, response.status === 405]).toEqual([method, !allowed]);
      if (allowed) await response.body?.cancel();
      else expect(response.headers.get('allow')).toBe(allow);
      if (!allowed && method !== 'HEAD') expect(await response.text()).toContain(allow);
    }
  });
});

describe('If the store fails', () => {
  const down = () => Promise.reject(new TaskError('store_unavailable', 'The tasks cannot be reached.'));
  const exports = () => ({ [Symbol.asyncIterator]: () => ({ next: down }) });
  const failing = { list: down, create: down, update: down, export: exports };
  const broken = (): TaskStore => ({ ...kept.store, ...failing });

  test.each([
    ['/', '?'],
    ['/?filter=open&after=3', '?filter=open&amp;after=3'],
    ['/task/1/finish', '?'],
    ['/task/1/unfinish', '?'],
    ['/tasks/export', '?'],
  ])('GET %s returns 503 with Retry-After and a link to try again', async (path, again) => {
    const response = await testApp(broken()).request(path);
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
    const html = await response.text();
    expect(html).toContain('The tasks cannot be reached.');
    expect(html).toContain(`<a href="${again}">Try again</a>`);
  });

  test('POST /task returns 503 and a form with the same title and nonce', async () => {
    const visitor = await visit(kept.app);
    const fields = { title: 'milk', nonce: visitor.nonce };
    const response = await submit(testApp(broken()), '/task', fields, visitor);
    expect(response.status).toBe(503);
    const html = await response.text();
    expect(html).toContain('value="milk"');
    expect(formFields(html).nonce).toBe(visitor.nonce);
  });

  test('an unexpected error returns 500 without details', async () => {
    const faulty = { ...kept.store, list: () => Promise.reject(new Error('secret')) };
    const response = await testApp(faulty).request('/');
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('secret');
  });
});

test('The Content-Security-Policy allows only our own files', () => {
  expect(securityHeaders['Content-Security-Policy']).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
      "manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  );
});
