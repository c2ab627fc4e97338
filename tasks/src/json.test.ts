import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import manifest from '../package.json' with { type: 'json' };
import { submit, useApp, visit } from '../testing/app.ts';
import { openapi as describeInterface } from './web/openapi.ts';

const kept = useApp();
const create = async (title: string) => (await kept.store.create({ title }, kept.now)).task;
const update = (id: string, change: object) => kept.store.update(id, change, kept.now);

/** The JSON of a new task. */
const open = (_id: string, title: string) => {
  return { _id, title, finished: 0, created_at: kept.now.toISOString() };
};

const openapi = JSON.parse(describeInterface());

/** Replaces each `$ref` with its target. */
function resolved(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(resolved);
  if (node === null || typeof node !== 'object') return node;
  if ('$ref' in node) {
    const path = String(node.$ref).slice(2).split('/');
    return resolved(path.reduce((at, key) => at[key], openapi));
  }
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, resolved(value)]));
}

/** The fields of all JSON responses. */
type Value = Record<'_id' | 'title' | 'next' | 'removal' | 'code' | 'detail', string> & {
  tasks: { _id: string }[];
  count: number;
};

type Described = Record<
  string,
  { responses: Record<string, { content?: Record<string, { schema: never }> }> }
>;

/** Sends JSON and checks that the response matches /openapi.json. */
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
  expect(promised, `${method} ${path} responds ${response.status}`).toBeDefined();
  const type = response.headers.get('content-type')?.split(';')[0] ?? '';
  if (response.status === 304) return { response, value: {} as Value };
  const schema = promised?.content?.[type]?.schema;
  expect(schema, `${method} ${path} responds with ${type}`).toBeDefined();
  const value = (await response.json()) as Value;
  z.fromJSONSchema(schema as never).parse(value);
  return { response, value };
}

const etag = async (id = '1') => (await send('GET', `/tasks/${id}`)).response.headers.get('etag') ?? '';

describe('GET /tasks as JSON', () => {
  test("supports the page's order and filters, and links to the next page", async () => {
    for (let i = 1; i <= 102; i++) await create(`task ${i}`);
    await update('102', { finished: 1 });
    const { value: first, response } = await send('GET', '/tasks');
    expect(first).toMatchObject({ open: 101, finished: 1 });
    expect(first.tasks[0]).toEqual(open('101', 'task 101'));
    expect(response.headers.get('link')).toBe(`<${first.next}>; rel="next"`);
    const { value: second } = await send('GET', first.next);
    expect(second.tasks).toMatchObject([{ _id: '1' }, { _id: '102' }]);
    expect(second).not.toHaveProperty('next');
    expect((await send('GET', '/tasks?filter=finished')).value.tasks).toHaveLength(1);
  });

  test('returns matching tasks and the number of searched titles for q', async () => {
    for (const title of ['Crème', 'Crème fraîche', 'Milk']) await create(title);
    const { response, value } = await send('GET', '/tasks?filter=open&q=fraiche+CREME');
    expect(value).toMatchObject({ tasks: [{ title: 'Crème fraîche' }], open: 3, finished: 0, searched: 3 });
    expect(response.headers.has('etag')).toBe(false);
    expect((await send('GET', '/tasks?q=+')).value.tasks).toHaveLength(3);
  });

  test.each(['/tasks?filter=none', '/tasks?after=x'])('%s returns 400 and a problem', async (path) => {
    const { response, value } = await send('GET', path);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(value).toMatchObject({ status: 400, title: 'Bad Request' });
  });

  test.each([
    ['text/html,application/xhtml+xml,*/*;q=0.8', 'text/html; charset=UTF-8'],
    ['*/*', 'text/html; charset=UTF-8'],
    ['application/json', 'application/json'],
    ['text/html;q=0.5, application/json', 'application/json'],
  ])('responds to Accept: %s with %s', async (Accept, type) => {
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
    expect(value).toEqual(open('1', 'milk'));
  });

  test.each([
    ['{', 400, 'bad_json'],
    ['[]', 422, 'invalid_field'],
    ['{"title":7}', 422, 'invalid_field'],
    ['{"title":"milk","finished":1}', 422, 'invalid_field'],
    ['{}', 422, 'invalid_title'],
    ['{"title":"\\ud800"}', 422, 'invalid_title'],
    [`${' '.repeat(64 * 1024)}{}`, 413, 'body_too_large'],
  ])('responds to %s with %i %s', async (body, status, code) => {
    const { response, value } = await send('POST', '/tasks', body);
    expect([response.status, value.code]).toEqual([status, code]);
  });

  test('refuses invalid UTF-8 and plain text', async () => {
    const body = Buffer.from('{"title":"caf\xe9"}', 'latin1');
    const headers = { 'Content-Type': 'application/json' };
    const response = await kept.app.request('/tasks', { method: 'POST', headers, body });
    expect(await response.json()).toMatchObject({ status: 400, code: 'not_utf8' });
    const text = await send('POST', '/tasks', '{"title":"milk"}', { 'Content-Type': 'text/plain' });
    expect(text.response.status).toBe(415);
    expect((await send('GET', '/tasks')).value.tasks).toEqual([]);
  });
});

describe('PUT /tasks/:id', () => {
  beforeEach(async () => {
    await create('milk');
  });

  const put = (change: object, match: string, path = '/tasks/1') =>
    send('PUT', path, change, { 'If-Match': match });

  test('changes the given fields and the ETag', async () => {
    const { response, value } = await put({ title: 'bread' }, await etag());
    expect(value).toEqual(open('1', 'bread'));
    expect(response.headers.get('etag')).toBe(await etag());
    const { value: finished } = await put({ finished: 1 }, await etag());
    expect(finished).toMatchObject({ title: 'bread', finished: 1, updated_at: kept.now.toISOString() });
  });

  test('returns 412 if another client has changed the task', async () => {
    const seen = await etag();
    await put({ title: 'first' }, seen);
    const { response, value } = await put({ title: 'second' }, seen);
    expect([response.status, value.code]).toEqual([412, 'revision_changed']);
    expect(response.headers.get('etag')).toBe(await etag());
    expect(value.detail).toContain('first');
    expect((await send('GET', '/tasks/1')).value.title).toBe('first');
  });

  test('compares the tags in If-Match strongly, and accepts * for an existing task', async () => {
    const tag = await etag();
    const revision = tag.slice(1, -1);
    const weak = [`W/${tag}`, `"7", W/${tag}`, `w/${tag}`, `W/"7, ${revision}"`];
    const other = [`"1${revision}", "${revision}1", ${revision}, ""`, `foo ${tag}`, `"x" ${tag}`, ''];
    const accepted = [`W/"7" , ${tag},"8"`, ' * '];
    for (const field of [...weak, ...other, ...accepted]) {
      const { status } = (await put({ title: 'milk' }, field)).response;
      expect(status, field).toBe(accepted.includes(field) ? 200 : 412);
    }
    expect((await put({ title: 'x' }, '*', '/tasks/2')).response.status).toBe(404);
    expect((await send('PUT', '/tasks/1', { title: 'x' })).response.status).toBe(428);
  });
});

describe('DELETE /tasks/:id', () => {
  beforeEach(async () => {
    for (const title of ['one', 'two', 'three']) await create(title);
  });
  const list = async () => (await send('GET', '/tasks')).value.tasks.map(({ _id }: { _id: string }) => _id);

  test('can be undone by POST /tasks/restore', async () => {
    await update('2', { finished: 1 });
    const before = (await send('GET', '/tasks/2')).value;
    const { value } = await send('DELETE', '/tasks/2');
    expect(await list()).toEqual(['3', '1']);
    expect((await send('GET', '/tasks/2')).response.status).toBe(404);
    expect((await send('POST', '/tasks/restore', { removal: value.removal })).value).toEqual({ count: 1 });
    expect(await list()).toEqual(['3', '1', '2']);
    expect((await send('GET', '/tasks/2')).value).toEqual(before);
    expect(await kept.redis.ttl('{tasks}:task:2')).toBe(-1);
    for (const removal of ['no removal', '\ud800', ''])
      expect((await send('POST', '/tasks/restore', { removal })).value.code).toBe('unknown_removal');
  });

  test('returns 412 for an older If-Match and 403 for another site', async () => {
    const older = { 'If-Match': await etag('2') };
    await update('2', { title: 'changed' });
    expect((await send('DELETE', '/tasks/2', undefined, older)).response.status).toBe(412);
    const foreign = { 'Sec-Fetch-Site': 'same-site' };
    expect((await send('DELETE', '/tasks/2', undefined, foreign)).response.status).toBe(403);
    expect(await list()).toHaveLength(3);
  });

  test.each(['', '{', ' '.repeat(70_000)])('ignores its body: %s', async (body) => {
    const headers = { 'Content-Type': 'application/json' };
    expect((await send('DELETE', '/tasks/2', body || undefined, headers)).response.status).toBe(200);
  });

  test('returns 404 for an unknown or malformed id', async () => {
    for (const method of ['GET', 'DELETE'])
      for (const id of ['%32', '02', '9'])
        expect((await send(method, `/tasks/${id}`)).response.status).toBe(404);
    expect((await send('PUT', '/tasks/%32', { finished: 1 }, { 'If-Match': '*' })).response.status).toBe(404);
    expect(await list()).toHaveLength(3);
  });
});

const deletedMeanwhile = /<form action="\/tasks".*value="mine".*Somebody may have deleted it/s;

describe('Browser forms, which can only POST', () => {
  const revision = async () => `${(await kept.store.show('1')).revision}`;
  beforeEach(async () => {
    await create('milk');
  });

  type Row = [what: string, status: number, shown: RegExp, meanwhile?: () => Promise<unknown>, more?: object];
  test.each<Row>([
    ['a changed title', 412, /value="mine".*theirs/s, () => update('1', { title: 'theirs' })],
    ['a deleted task', 404, deletedMeanwhile, () => kept.store.destroy('1', 'gone')],
    ['an invalid title', 422, /value="x{501}"/, undefined, { title: 'x'.repeat(501) }],
    ['an invalid field', 422, /value="mine".*finished/s, undefined, { finished: 'often' }],
  ])('%s returns %i and a form that can be sent again', async (_, status, shown, meanwhile, more) => {
    const visitor = await visit(kept.app);
    const sent = await revision();
    const fields = { _method: 'PUT', revision: sent, 'was.title': 'milk', title: 'mine' };
    await meanwhile?.();
    const response = await submit(kept.app, '/tasks/1', { ...fields, ...more }, visitor);
    expect(response.status).toBe(status);
    const html = await response.text();
    expect(html).toMatch(shown);
    if (status === 404) return;
    const [, current = ''] = html.match(/name="revision" value="(\d+)"/) ?? [];
    expect(current === sent).toBe(status === 422);
    expect((await kept.store.show('1')).title).not.toBe('mine');
    expect((await submit(kept.app, '/tasks/1', { ...fields, revision: current }, visitor)).status).toBe(303);
    expect((await kept.store.show('1')).title).toBe('mine');
  });

  test('an edit is saved even if somebody else has finished the task', async () => {
    const fields = { _method: 'PUT', revision: await revision(), 'was.title': 'milk', title: 'mine' };
    await update('1', { finished: 1 });
    expect((await submit(kept.app, '/tasks/1', fields, await visit(kept.app))).status).toBe(303);
    expect(await kept.store.show('1')).toMatchObject({ title: 'mine', finished: 1 });
  });

  test('a retry returns the same response, and a form without _method returns 400', async () => {
    const visitor = await visit(kept.app);
    const fields = { _method: 'PUT', revision: await revision(), title: 'mine' };
    for (let i = 0; i < 2; i++) {
      const response = await submit(kept.app, '/tasks/1', fields, visitor);
      expect([response.status, response.headers.get('location')]).toEqual([303, '/']);
    }
    expect((await submit(kept.app, '/tasks/1', { title: 'x' }, visitor)).status).toBe(400);
    expect((await kept.store.show('1')).title).toBe('mine');
  });

  test('_method=DELETE removes a task, and Undo restores it', async () => {
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
  ])('%s (_method=%s) returns 403 without a token, or from another site', async (path, _method) => {
    await update('1', { finished: 1 });
    const { version } = await kept.store.list({ filter: 'all' });
    const fields = { _method, revision: await revision(), title: 'x', removal: 'x', text: 'x' };
    expect((await submit(kept.app, path, fields)).status).toBe(403);
    const foreign = { Origin: 'http://evil.example' };
    expect((await submit(kept.app, path, fields, await visit(kept.app), foreign)).status).toBe(403);
    expect((await kept.store.list({ filter: 'all' })).version).toBe(version);
  });

  test('pages with a token are not cached', async () => {
    for (const path of ['/', '/tasks', '/tasks/new', '/tasks/1', '/tasks/1/edit', '/tasks/import']) {
      const { status, headers } = await kept.app.request(path);
      expect([path, status, headers.get('cache-control')]).toEqual([path, 200, 'no-store, no-cache']);
    }
  });
});

test('POST /tasks/import matches /openapi.json', async () => {
  const lines = { 'Content-Type': 'application/x-ndjson' };
  const { value } = await send('POST', '/tasks/import', '{"title":"milk"}\n{"title":""}\n', lines);
  expect(value).toMatchObject({ imported: 1, refused: 1, problems: [{ line: 2 }] });
});

test.each(['/tasks', '/tasks/partial'])(
  'GET %s contains no token and returns 304 until a task changes',
  async (path) => {
    await create('milk');
    const get = (known: object) =>
      kept.app.request(path, { headers: { Accept: 'application/json', ...known } });
    const { headers, status } = await get({});
    const caching = [headers.get('cache-control'), headers.get('set-cookie')];
    expect([status, ...caching]).toEqual([200, 'private, no-cache', null]);
    const known = { 'If-None-Match': headers.get('etag') ?? '' };
    expect((await get(known)).status).toBe(304);
    await update('1', { finished: 1 });
    const changed = await get(known);
    expect([changed.status, (await changed.text()).includes('_csrf')]).toEqual([200, false]);
  },
);

describe('GET /openapi.json', () => {
  test("describes a task's fields in the order of the response", async () => {
    await create('milk');
    const { revision, ...task } = await update('1', { finished: 1 });
    expect(Object.keys(openapi.components.schemas.Task.properties)).toEqual(Object.keys(task));
    expect(Object.keys(task)).toEqual(['_id', 'title', 'finished', 'created_at', 'updated_at']);
  });

  test('describes exactly the JSON routes', async () => {
    const described = (await (await kept.app.request('/openapi.json')).json()) as typeof openapi;
    expect(described.openapi).toBe('3.1.0');
    expect(described.info.license).toEqual({ name: 'MIT', identifier: 'MIT' });
    expect(described.info.version).toBe(manifest.version);
    expect(described.security).toEqual([{}, { token: [] }]);
    const { title, finished } = described.components.schemas.Task.properties;
    expect(title).toMatchObject({ minLength: 1, maxLength: 500 });
    expect(finished).toEqual({ type: 'integer', enum: [0, 1] });
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
      ...['GET /tasks/import', 'POST /tasks/:id', 'POST /tasks/finished', 'POST /tasks/added'],
    ];
    const routes = kept.app.routes
      .filter(({ method, path }) => method !== 'ALL' && path.startsWith('/tasks'))
      .map(({ method, path }) => `${method} ${path}`)
      .filter((route) => !browsersOnly.includes(route));
    expect(operations.sort()).toEqual([...new Set(routes)].sort());
  });
});
