import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import manifest from '../package.json' with { type: 'json' };
import { submit, useApp, visit } from '../testing/app.ts';
import { openapi as describeInterface } from './web/openapi.ts';

const kept = useApp();
const create = (title: string) => kept.store.create({ title }, kept.now);
const update = (id: string, change: object) => kept.store.update(id, change, kept.now);

const openapi = JSON.parse(describeInterface());

/** Replaces each `$ref` by its target. */
function resolved(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(resolved);
  if (node === null || typeof node !== 'object') return node;
  if ('$ref' in node) {
    const path = String(node.$ref).slice(2).split('/');
    return resolved(path.reduce((at, key) => at[key], openapi));
  }
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, resolved(value)]));
}

/** The fields of all responses. */
interface Value {
  _id: string;
  title: string;
  tasks: { _id: string }[];
  next: string;
  removal: string;
  count: number;
  code: string;
  detail: string;
}

type Described = Record<
  string,
  { responses: Record<string, { content?: Record<string, { schema: never }> }> }
>;

/** Sends JSON and checks the response against the description. */
async function send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const response = await kept.app.request(path, {
    method,
    headers: {
      Accept: 'application/json',
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const [pathname = ''] = path.split('?');
  const described = openapi.paths[pathname] ?? openapi.paths['/tasks/{id}'];
  const operation = (resolved(described) as Described)[method.toLowerCase()];
  const promised = operation?.responses[response.status];
  expect(promised, `${method} ${path} answers ${response.status}`).toBeDefined();
  const type = response.headers.get('content-type')?.split(';')[0] ?? '';
  if (response.status === 304) return { response, value: {} as Value };
  const schema = promised?.content?.[type]?.schema;
  expect(schema, `${method} ${path} answers ${type}`).toBeDefined();
  const value = (await response.json()) as Value;
  z.fromJSONSchema(schema as never).parse(value);
  return { response, value };
}

const etag = async (id = '1') => (await send('GET', `/tasks/${id}`)).response.headers.get('etag') ?? '';

describe('GET /tasks as JSON', () => {
  test('has the order of the page, links to the next page, and filters', async () => {
    for (let i = 1; i <= 150; i++) await create(`task ${i}`);
    await update('150', { finished: 1 });
    const { value: first, response } = await send('GET', '/tasks');
    expect(first).toMatchObject({ open: 149, finished: 1 });
    expect(first.tasks[0]).toEqual({
      _id: '149',
      title: 'task 149',
      finished: 0,
      created_at: kept.now.toISOString(),
    });
    expect(response.headers.get('link')).toBe(`<${first.next}>; rel="next"`);
    const { value: second } = await send('GET', first.next);
    expect(second.tasks.map(({ _id }: { _id: string }) => Number(_id))).toEqual([
      ...Array.from({ length: 49 }, (_, i) => 49 - i),
      150,
    ]);
    expect(second).not.toHaveProperty('next');
    const { value: finished } = await send('GET', '/tasks?filter=finished');
    expect(finished.tasks).toHaveLength(1);
  });

  test('is 304 until something changes', async () => {
    await create('milk');
    const { headers } = (await send('GET', '/tasks')).response;
    expect(headers.get('cache-control')).toBe('private, no-cache');
    const tag = headers.get('etag') ?? '';
    expect((await send('GET', '/tasks', undefined, { 'If-None-Match': tag })).response.status).toBe(304);
    await update('1', { finished: 1 });
    expect((await send('GET', '/tasks', undefined, { 'If-None-Match': tag })).response.status).toBe(200);
  });

  test('finds words, and counts the searched titles', async () => {
    for (const title of ['Crème', 'Crème fraîche', 'Milk']) await create(title);
    const { response, value } = await send('GET', '/tasks?filter=open&q=fraiche+CREME');
    expect(value).toMatchObject({ tasks: [{ title: 'Crème fraîche' }], open: 3, finished: 0, searched: 3 });
    expect(response.headers.has('etag')).toBe(false);
    expect((await send('GET', '/tasks?q=+')).value.tasks).toHaveLength(3);
  });

  test.each(['/tasks?filter=none', '/tasks?after=x'])('%s is 400 with a problem', async (path) => {
    const { response, value } = await send('GET', path);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(value).toMatchObject({ status: 400, title: 'Bad Request' });
  });

  test.each([
    ['text/html,application/xhtml+xml,*/*;q=0.8', 'text/html; charset=UTF-8'],
    ['*/*', 'text/html; charset=UTF-8'],
    ['application/json', 'application/json'],
    ['text/html;q=0.5, application/json', 'application/json'],
  ])('Accept: %s gets %s', async (Accept, type) => {
    const response = await kept.app.request('/tasks', { headers: { Accept } });
    expect(response.headers.get('content-type')).toBe(type);
    expect(response.headers.get('vary')).toContain('Accept');
  });
});

describe('POST /tasks as JSON', () => {
  test('adds a task and returns its location', async () => {
    const { response, value } = await send('POST', '/tasks', { title: ' milk ' });
    expect(response.status).toBe(201);
    expect(response.headers.get('location')).toBe('/tasks/1');
    expect(value).toEqual({ _id: '1', title: 'milk', finished: 0, created_at: kept.now.toISOString() });
  });

  test.each([
    ['{', 400, 'bad_json'],
    ['[]', 422, 'invalid_field'],
    ['{"title":7}', 422, 'invalid_field'],
    ['{"title":"milk","finished":1}', 422, 'invalid_field'],
    ['{}', 422, 'invalid_title'],
    ['{"title":"\\ud800"}', 422, 'invalid_title'],
    [`${' '.repeat(64 * 1024)}{}`, 413, 'body_too_large'],
  ])('%s is %i %s', async (body, status, code) => {
    const { response, value } = await send('POST', '/tasks', body);
    expect([response.status, value.code]).toEqual([status, code]);
  });

  test.each([
    [{ Origin: 'http://evil.example' }, 403],
    [{ Origin: 'null' }, 403],
    [{ 'Sec-Fetch-Site': 'cross-site' }, 403],
    [{ Origin: 'http://localhost' }, 201],
  ])('without a token, with %o, is %i', async (headers, status) => {
    expect((await send('POST', '/tasks', { title: 'milk' }, headers as never)).response.status).toBe(status);
  });

  test('that is not UTF-8 is 400 without effect', async () => {
    const body = Buffer.from('{"title":"caf\xe9"}', 'latin1');
    const headers = { 'Content-Type': 'application/json' };
    const response = await kept.app.request('/tasks', { method: 'POST', headers, body });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'not_utf8' });
    expect((await send('GET', '/tasks')).value.tasks).toEqual([]);
  });

  test('as text, which another site could send, is 415', async () => {
    const { response } = await send('POST', '/tasks', '{"title":"milk"}', { 'Content-Type': 'text/plain' });
    expect(response.status).toBe(415);
  });
});

describe('PUT /tasks/:id', () => {
  beforeEach(async () => {
    await create('milk');
  });

  test('changes the given fields and the ETag', async () => {
    const { response, value } = await send(
      'PUT',
      '/tasks/1',
      { title: 'bread' },
      { 'If-Match': await etag() },
    );
    expect(value).toEqual({ _id: '1', title: 'bread', finished: 0, created_at: kept.now.toISOString() });
    expect(response.headers.get('etag')).toBe(await etag());
    const { value: finished } = await send(
      'PUT',
      '/tasks/1',
      { finished: 1 },
      { 'If-Match': `"7", ${await etag()}` },
    );
    expect(finished).toMatchObject({ title: 'bread', finished: 1, updated_at: kept.now.toISOString() });
  });

  test('two editors cannot overwrite each other: the second gets 412 and nothing is lost', async () => {
    const seen = { 'If-Match': await etag() };
    await send('PUT', '/tasks/1', { title: 'first' }, seen);
    const { response, value } = await send('PUT', '/tasks/1', { title: 'second' }, seen);
    expect([response.status, value.code]).toEqual([412, 'revision_changed']);
    expect(value.detail).toContain('first');
    expect((await send('GET', '/tasks/1')).value.title).toBe('first');
  });

  test('without If-Match is 428', async () => {
    expect((await send('PUT', '/tasks/1', { title: 'x' })).value.code).toBe('revision_missing');
  });

  test('If-Match compares strongly and takes a list; * matches any task that exists', async () => {
    const tag = await etag();
    const revision = tag.slice(1, -1);
    for (const [field, status] of [
      [`W/${tag}`, 412],
      [`"7", W/${tag}`, 412],
      [`w/${tag}`, 412],
      [`"1${revision}", "${revision}1", ${revision}, ""`, 412],
      [`W/"7, ${revision}"`, 412],
      ['', 412],
      [`W/"7" , ${tag},"8"`, 200],
      [' * ', 200],
    ] as const) {
      const { response } = await send('PUT', '/tasks/1', { title: 'milk' }, { 'If-Match': field });
      expect(response.status, field).toBe(status);
    }
    expect((await send('PUT', '/tasks/2', { title: 'x' }, { 'If-Match': '*' })).response.status).toBe(404);
  });
});

describe('DELETE', () => {
  beforeEach(async () => {
    for (const title of ['one', 'two', 'three']) await create(title);
  });
  const list = async () => (await send('GET', '/tasks')).value.tasks.map(({ _id }: { _id: string }) => _id);

  test.each(['no removal', '\ud800', ''])(
    'POST /tasks/restore of the unknown name %j is 404',
    async (removal) => {
      expect((await send('POST', '/tasks/restore', { removal })).value.code).toBe('unknown_removal');
    },
  );

  test('/tasks/:id removes a task, and POST /tasks/restore brings it back in its place', async () => {
    await update('2', { finished: 1 });
    const before = (await send('GET', '/tasks/2')).value;
    const { value } = await send('DELETE', '/tasks/2');
    expect(await list()).toEqual(['3', '1']);
    expect((await send('GET', '/tasks/2')).response.status).toBe(404);
    expect((await send('POST', '/tasks/restore', { removal: value.removal })).value).toEqual({ count: 1 });
    expect(await list()).toEqual(['3', '1', '2']);
    expect((await send('GET', '/tasks/2')).value).toEqual(before);
    expect(await kept.redis.ttl('{tasks}:task:2')).toBe(-1);
  });

  test('/tasks/:id with an older If-Match is 412 and removes nothing', async () => {
    const headers = { 'If-Match': await etag('2') };
    await update('2', { title: 'changed' });
    expect((await send('DELETE', '/tasks/2', undefined, headers)).response.status).toBe(412);
    expect(await list()).toHaveLength(3);
  });

  test.each(['', '{', ' '.repeat(70_000)])('/tasks/:id ignores its body: %s', async (body) => {
    const headers = { 'Content-Type': 'application/json' };
    expect((await send('DELETE', '/tasks/2', body || undefined, headers)).response.status).toBe(200);
  });

  test('/tasks/:id in another spelling, or of no task, is 404', async () => {
    for (const method of ['GET', 'DELETE'])
      for (const id of ['%32', '02', '9'])
        expect((await send(method, `/tasks/${id}`)).response.status).toBe(404);
    expect((await send('PUT', '/tasks/%32', { finished: 1 }, { 'If-Match': '*' })).response.status).toBe(404);
    expect(await list()).toHaveLength(3);
  });

  test('/tasks/:id from elsewhere is 403', async () => {
    const { response } = await send('DELETE', '/tasks/2', undefined, { 'Sec-Fetch-Site': 'same-site' });
    expect(response.status).toBe(403);
    expect(await list()).toHaveLength(3);
  });
});

describe('Forms of a browser, which can only POST', () => {
  const revision = async () => `${(await kept.store.show('1')).revision}`;
  beforeEach(async () => {
    await create('milk');
  });

  test('a task that was finished meanwhile is 412, without its title', async () => {
    const visitor = await visit(kept.app);
    const fields = { _method: 'PUT', revision: await revision(), was: 'milk', title: 'mine' };
    await update('1', { finished: 1 });
    const html = await (await submit(kept.app, '/tasks/1', fields, visitor)).text();
    expect(html).toContain('changed this task. It is finished now. Save changes its title alone.');
    const again = { ...fields, revision: html.match(/name="revision" value="(\d+)"/)?.[1] ?? '' };
    expect((await submit(kept.app, '/tasks/1', again, visitor)).status).toBe(303);
    expect(await kept.store.show('1')).toMatchObject({ title: 'mine', finished: 1 });
    const { value } = await send('PUT', '/tasks/1', { finished: 0 }, { 'If-Match': '"1"' });
    expect(value.detail).toBe('Somebody else changed this task. It is finished now.');
  });

  test('a title that was changed meanwhile is 412: the form with the text, which can be saved', async () => {
    const visitor = await visit(kept.app);
    const fields = { _method: 'PUT', revision: await revision(), title: 'mine' };
    await update('1', { title: 'theirs' });
    const response = await submit(kept.app, '/tasks/1', fields, visitor);
    expect(response.status).toBe(412);
    const html = await response.text();
    expect(html).toContain('theirs');
    expect(html).toContain('value="mine"');
    const current = html.match(/name="revision" value="(\d+)"/)?.[1] ?? '';
    const again = { ...fields, revision: current };
    expect((await submit(kept.app, '/tasks/1', again, visitor)).status).toBe(303);
    expect((await kept.store.show('1')).title).toBe('mine');
  });

  test('a retried form gets the same response', async () => {
    const visitor = await visit(kept.app);
    const fields = { _method: 'PUT', revision: await revision(), title: 'mine' };
    for (let i = 0; i < 2; i++) {
      const response = await submit(kept.app, '/tasks/1', fields, visitor);
      expect([response.status, response.headers.get('location')]).toEqual([303, '/']);
    }
    expect((await kept.store.show('1')).title).toBe('mine');
  });

  test('a title of a deleted task is 404: the form with the text, which adds it', async () => {
    const visitor = await visit(kept.app);
    const fields = { _method: 'PUT', revision: await revision(), title: 'mine' };
    await kept.store.destroy('1', 'gone');
    const response = await submit(kept.app, '/tasks/1', fields, visitor);
    expect(response.status).toBe(404);
    const html = await response.text();
    expect(html).toMatch(/<form action="\/task"[\s\S]*value="mine"[\s\S]*Somebody deleted this task/);
  });

  test('an invalid title is 422 with the text and the same revision', async () => {
    const fields = { _method: 'PUT', revision: await revision(), title: 'x'.repeat(501) };
    const response = await submit(kept.app, '/tasks/1', fields, await visit(kept.app));
    expect(response.status).toBe(422);
    const html = await response.text();
    expect(html).toContain(`value="${fields.title}"`);
    expect(html).toContain(`name="revision" value="${fields.revision}"`);
  });

  test('an invalid field is 422 with its name and the text', async () => {
    const fields = { _method: 'PUT', revision: await revision(), title: 'mine', finished: 'often' };
    const response = await submit(kept.app, '/tasks/1', fields, await visit(kept.app));
    expect(response.status).toBe(422);
    expect(await response.text()).toMatch(/value="mine"[\s\S]*finished/);
    expect((await kept.store.show('1')).title).toBe('milk');
  });

  test('_method=DELETE removes, the list offers to undo, and undo brings it back', async () => {
    const visitor = await visit(kept.app);
    const response = await submit(kept.app, '/tasks/1', { _method: 'DELETE' }, visitor);
    expect(response.status).toBe(303);
    const location = response.headers.get('location') ?? '';
    const page = await (await kept.app.request(location)).text();
    const removal = page.match(/name="removal" value="([^"]+)"/)?.[1] ?? '';
    expect(page).toContain('Undo');
    expect((await submit(kept.app, '/tasks/restore', { removal }, visitor)).status).toBe(303);
    expect((await kept.store.show('1')).title).toBe('milk');
    expect(await (await kept.app.request(location)).text()).not.toContain('Undo');
  });

  test.each([
    ['/tasks/1', 'PUT'],
    ['/tasks/1', 'DELETE'],
    ['/tasks/finished', 'DELETE'],
    ['/tasks/restore', ''],
    ['/tasks', ''],
    ['/tasks/import', ''],
  ])('%s with _method=%s and no token is 403 and changes nothing', async (path, _method) => {
    await update('1', { finished: 1 });
    const { version } = await kept.store.list({ filter: 'all' });
    const fields = { _method, revision: await revision(), title: 'x', removal: 'x', text: 'x' };
    expect((await submit(kept.app, path, fields)).status).toBe(403);
    expect(
      (await submit(kept.app, path, fields, await visit(kept.app), { Origin: 'http://evil.example' })).status,
    ).toBe(403);
    expect((await kept.store.list({ filter: 'all' })).version).toBe(version);
  });

  test('a form without _method is 400', async () => {
    expect((await submit(kept.app, '/tasks/1', { title: 'x' }, await visit(kept.app))).status).toBe(400);
  });

  test.each(['/', '/tasks', '/tasks/new', '/tasks/1', '/tasks/1/edit', '/tasks/import'])(
    'GET %s is an uncached page, because it has a token',
    async (path) => {
      const response = await kept.app.request(path);
      expect(response.status).toBe(200);
      expect(response.headers.get('cache-control')).toBe('no-store, no-cache');
    },
  );
});

test('POST /tasks/import reports each refused line', async () => {
  const lines = { 'Content-Type': 'application/x-ndjson' };
  const { value } = await send('POST', '/tasks/import', '{"title":"milk"}\n{"title":""}\n', lines);
  expect(value).toMatchObject({ imported: 1, refused: 1, problems: [{ line: 2 }] });
});

describe('GET /tasks/partial', () => {
  test('is the list without a token; its ETag changes with each task', async () => {
    await create('milk');
    const first = await kept.app.request('/tasks/partial');
    const html = await first.text();
    expect(html).toContain('milk');
    expect(html).not.toContain('_csrf');
    expect(first.headers.get('set-cookie')).toBeNull();
    const known = { headers: { 'If-None-Match': first.headers.get('etag') ?? '' } };
    expect((await kept.app.request('/tasks/partial', known)).status).toBe(304);
    await update('1', { finished: 1 });
    expect((await kept.app.request('/tasks/partial', known)).status).toBe(200);
  });
});

describe('GET /openapi.json', () => {
  test('describes the fields of a task in the order of the response', async () => {
    await create('milk');
    const task = await update('1', { finished: 1 });
    const { revision, ...answered } = task;
    expect(Object.keys(openapi.components.schemas.Task.properties)).toEqual(Object.keys(answered));
    expect(Object.keys(answered)).toEqual(['_id', 'title', 'finished', 'created_at', 'updated_at']);
  });

  test('describes exactly the JSON routes', async () => {
    const described = (await (await kept.app.request('/openapi.json')).json()) as typeof openapi;
    expect(described.openapi).toBe('3.1.0');
    expect(described.info.license).toEqual({ name: 'MIT', identifier: 'MIT' });
    expect(described.info.version).toBe(manifest.version);
    expect(described.servers).toEqual([{ url: '/' }]);
    expect(described.security).toEqual([{}, { token: [] }, { session: [] }]);
    expect(described.components.schemas.Task.properties.title).toMatchObject({
      minLength: 1,
      maxLength: 500,
    });
    expect(described.paths['/tasks/{id}'].put.parameters).toMatchObject([
      { name: 'If-Match', in: 'header', required: true },
    ]);
    const operations = Object.entries(described.paths).flatMap(([path, item]) =>
      Object.keys(item as object)
        .filter((key) => key !== 'parameters')
        .map((method) => `${method.toUpperCase()} ${path.replace('{id}', ':id')}`),
    );
    const browsersOnly = [
      ...['GET /tasks/new', 'GET /tasks/:id/edit', 'GET /tasks/partial', 'GET /tasks/removals'],
      ...['GET /tasks/import', 'POST /tasks/:id', 'POST /tasks/finished'],
    ];
    const routes = kept.app.routes
      .filter(({ method, path }) => method !== 'ALL' && path.startsWith('/tasks'))
      .map(({ method, path }) => `${method} ${path}`)
      .filter((route) => !browsersOnly.includes(route));
    expect(operations.sort()).toEqual([...new Set(routes)].sort());
  });
});
