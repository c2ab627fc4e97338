import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { submit, testApp, useApp, visit } from '../../testing/app.ts';
import { allTasks } from '../../testing/store.ts';
import { TaskError } from '../task/errors.ts';
import type { Report } from '../task/import.ts';
import type { Task, TaskStore } from '../task/task.ts';

const kept = useApp();

/** Creates an application whose store fails, after saving the import if `saves` is set. */
function appFailing(saves = false) {
  const insert: TaskStore['insert'] = async (...given) => {
    if (saves) await kept.store.insert(...given);
    throw new TaskError('store_unavailable', 'The tasks cannot be reached.');
  };
  return testApp({ ...kept.store, insert }, { now: () => kept.now });
}

const titles = async () => (await kept.store.list({ filter: 'all' })).tasks.map(({ title }) => title);
const send = (type: string, body: string | ReadableStream, more: Record<string, string> = {}) => {
  const headers = { 'Content-Type': type, Origin: 'http://localhost', ...more };
  return kept.app.request('/tasks/import', { method: 'POST', body, headers, duplex: 'half' } as RequestInit);
};

describe('An import', () => {
  test('reads one title per line of text, and the state of check boxes', async () => {
    const boxes = '- [ ] 1. bread\r\n[ ] jam\n3. [x] done\n\n* [X] done, too\n☐ milk 🥖\n✔️ tea\n- \n';
    const response = await send('text/plain', `${boxes}-5 degrees\n1.5 l`);
    expect(await response.json()).toEqual({ imported: 9, refused: 0, problems: [] });
    expect(await titles()).toEqual([
      ...['1.5 l', '-5 degrees', '-', 'milk 🥖', 'jam', '1. bread'],
      ...['tea', 'done, too', 'done'],
    ]);
    expect(await kept.store.show('3')).toMatchObject({ finished: 1, updated_at: kept.now.toISOString() });
  });

  test('rejects each JSON line that has an invalid task', async () => {
    const body = [
      '{"title":"good","created_at":"2025-01-01T00:00:00+01:00"}',
      '[{"title":"dropped with its line"},{"title":""}]',
      '{',
      '{"title":7}',
      '{"title":"bad","finished":2}',
      '{"title":"good, too"}',
    ];
    const report = (await (await send('application/x-ndjson', body.join('\n'))).json()) as Report;
    expect(report).toMatchObject({ imported: 2, refused: 4 });
    expect(report.problems.map(({ line }) => line)).toEqual([2, 3, 4, 5]);
    expect(report.problems[0]?.detail).toBe('A task needs a title.');
    expect(await titles()).toEqual(['good, too', 'good']);
    expect((await kept.store.show('1')).created_at).toBe('2024-12-31T23:00:00.000Z');
  });

  test.each([
    ['with', (text: string) => text],
    ['without', (text: string) => ReadableStream.from([Buffer.from(text)])],
  ])('larger than 1 MiB %s a Content-Length returns 413', async (_, sent) => {
    const tasks = 'milk\n'.padEnd(1024 ** 2, ' ');
    const response = await send('text/plain', sent(`${tasks} `), { Accept: 'application/json' });
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({
      code: 'body_too_large',
      detail: 'This is too long. The limit is 1 MiB. Send it in parts.',
    });
    expect(await titles()).toEqual([]);
    expect((await send('text/plain', sent(tasks))).status).toBe(200);
  });

  test('adds many tasks in one step', async () => {
    const body = Array.from({ length: 1_200 }, (_, i) => `${i}`).join('\n');
    expect(await (await send('text/plain', body)).json()).toMatchObject({ imported: 1_200 });
    const { open, version } = await kept.store.list({ filter: 'all' });
    expect(open).toBe(1_200);
    const revisions = (await allTasks(kept.store)).map(({ revision }) => `${revision}`);
    expect(new Set(revisions)).toEqual(new Set([version]));
  });

  test('is rejected while the same client or two other clients are importing', async () => {
    const waiting = Promise.withResolvers<undefined>();
    const insert: TaskStore['insert'] = () => waiting.promise;
    const app = testApp({ ...kept.store, insert }, { now: () => kept.now });
    const from = (client: string) => {
      const types = { 'Content-Type': 'application/x-ndjson', Accept: 'application/json' };
      const headers = { ...types, 'X-Forwarded-For': client };
      return app.request('/tasks/import', { method: 'POST', headers, body: '{"title":"milk"}' });
    };
    const first = [];
    for (const [client, another] of Object.entries({ '192.0.2.1': '192.0.2.1', '192.0.2.2': '192.0.2.3' })) {
      first.push(from(client));
      const refused = await from(another);
      expect(refused.headers.get('retry-after')).toBe('2');
      expect(await refused.json()).toMatchObject({ status: 503, code: 'too_many_imports' });
    }
    waiting.resolve(undefined);
    for (const answer of first) expect((await answer).status).toBe(200);
    expect((await from('192.0.2.3')).status).toBe(200);
  });

  test('requires an Origin header for text, because text needs no CORS preflight', async () => {
    const send = (type: string, body: string) =>
      kept.app.request('/tasks/import', { method: 'POST', headers: { 'Content-Type': type }, body });
    const text = await send('text/plain', 'milk');
    expect(text.status).toBe(403);
    expect(await text.text()).toMatch(/Origin: http:\/\/localhost, but application\/x-ndjson/);
    expect(await titles()).toEqual([]);
    expect((await send('application/x-ndjson', '{"title":"milk"}')).status).toBe(200);
    expect((await send('application/json', '[{"title":"milk"}]')).status).toBe(200);
  });

  test('rejects only lines that are not UTF-8, but a whole binary file', async () => {
    const body = Buffer.concat([Buffer.from('milk\ncaf\xe9\n', 'latin1'), Buffer.from('caf\u00e9')]);
    const stream = ReadableStream.from([body.subarray(0, 9), body.subarray(9)]);
    const report = (await (await send('text/plain', stream)).json()) as Report;
    expect(report).toMatchObject({ imported: 2, refused: 1, problems: [{ line: 2 }] });
    expect(report.problems[0]?.detail).toContain('not UTF-8');
    expect(await titles()).toEqual(['caf\u00e9', 'milk']);
    expect(await (await send('text/plain', 'tea\0')).text()).toContain('This is not a text file in UTF-8.');
  });

  /** Returns the text in the import form. */
  const leftIn = (html: string) => html.match(/<textarea[^>]*>\n([^<]*)<\/textarea>/)?.[1];

  test('the import form shows the number of imported tasks and an error for each rejected line', async () => {
    const long = 'x'.repeat(501);
    const text = `milk\r\n${long}\r\nbread\t2\r\na\x7fb`;
    const visitor = await visit(kept.app);
    const response = await submit(kept.app, '/tasks/import', { text }, visitor);
    expect(response.status).toBe(200);
    const html = await response.text();
    expect(html).toContain('2 tasks imported, 2 left below to correct.');
    expect(html).toMatch(
      /Line 2, <q dir="auto" translate="no">x{40}<\/q>: A title has at most 500 characters/,
    );
    expect(await titles()).toEqual(['milk', 'bread 2']);
    const left = leftIn(html) ?? '';
    expect(left).toBe(`${long}\na\x7fb`);
    const again = left.replace('x', '').replace('\x7f', '');
    const corrected = await submit(kept.app, '/tasks/import', { text: again }, visitor);
    expect(corrected.headers.get('location')).toBe('/tasks/import?imported=2&first=3');
    expect(leftIn(await (await kept.app.request('/tasks/import?imported=2')).text())).toBe('');
    expect(await titles()).toEqual(['x'.repeat(500), 'ab', 'milk', 'bread 2']);
  });

  describe('from an uploaded file', () => {
    const upload = async (content: string, name = 'a.txt', fields: object = {}, app = kept.app) => {
      const { cookie, token } = await visit(app);
      const body = new FormData();
      const all = { _csrf: token, nonce: 'n', ...fields };
      for (const [field, value] of Object.entries(all)) body.set(field, value);
      body.set('file', new Blob([content]), name);
      return app.request('/tasks/import', { method: 'POST', body, headers: { Cookie: cookie } });
    };

    test.each([
      ['tasks.txt', '- [ ] milk\r\n- [x] tea'],
      ['tasks.json', '[\n{"title":"milk"},\n{"title":"tea","finished":1}\n]\n'],
      ['TASKS.JSON', '[{"title":"milk"},{"title":"tea","finished":1}]'],
      ['tasks.ndjson', '{"title":"milk"}\n{"title":"tea","finished":1}'],
    ])('reads %s by its extension', async (name, content) => {
      expect((await upload(content, name)).headers.get('location')).toBe('/tasks/import?imported=2&first=1');
      expect(await titles()).toEqual(['milk', 'tea']);
      expect((await kept.store.show('2')).finished).toBe(1);
    });

    test('lists the rejected lines', async () => {
      const html = await (await upload(`milk\n${'x'.repeat(501)}`)).text();
      expect(html).toContain('1 task imported, 1 refused.');
      expect(html).toContain('<li>Line 2: A title has at most 500');
      expect((await upload('\n')).headers.get('location')).toBe('/tasks/import?imported=0');
    });

    test('adds the tasks once if the client retries after a 503', async () => {
      const response = await upload('milk\nbread', 'a.txt', {}, appFailing(true));
      expect(response.status).toBe(503);
      const html = await response.text();
      expect(html.split('type="file"')[1]).toContain('The tasks cannot be reached.');
      expect(html).toContain('name="nonce" value="n"');
      await upload('milk\nbread');
      expect(await titles()).toEqual(['bread', 'milk']);
    });

    const part = (name: string, value: string, boundary = 'b') =>
      `--${boundary}\r\nContent-Disposition: form-data; ${name}\r\n\r\n${value}\r\n`;
    const raw = (body: string, headers = {}, boundary = 'b') =>
      send(`multipart/form-data; boundary=${boundary}`, body, headers);
    const withoutFile = async () => {
      const { cookie: Cookie, token } = await visit(kept.app);
      const parts = part('name="_csrf"', token) + part('name="file"; filename=""', '');
      return raw(`${parts}--b--\r\n`, { Cookie });
    };
    const long = 'b'.repeat(71);
    test.each<[what: string, send: () => Response | Promise<Response>, status: number, reason: string]>([
      ['an expired form', () => upload('milk', 'a.txt', { _csrf: 'x' }), 403, 'This form has expired'],
      ['a long field', () => upload('milk', 'a.txt', { nonce: 'x'.repeat(5_000) }), 422, 'too long'],
      ['a form without a file', withoutFile, 422, 'Choose a file.'],
      ['many fields', () => raw(part('name="x"', '1').repeat(18)), 422, 'no text and no file'],
      ['a long boundary', () => raw(part('name="x"', '1', long), {}, long), 422, 'at most 70'],
      ['a truncated form', () => raw(part('name="x"', '1')), 422, ''],
      ['a form from another site', () => raw('', { Origin: 'http://evil.example' }), 403, ''],
    ])('refuses %s', async (_, send, status, reason) => {
      const response = await send();
      expect(response.status).toBe(status);
      expect(await response.text()).toContain(reason);
      expect(await titles()).toEqual([]);
    });
  });

  test.each([
    [{ 'Idempotency-Key': 'k' }, 'Repeat the import with the same Idempotency-Key.'],
    [{}, 'The tasks may have been added.'],
  ])('a failed import of a program says how to repeat it: %o', async (headers, advice) => {
    kept.app = appFailing();
    const response = await send('text/plain', 'milk', { Accept: 'application/json', ...headers });
    expect(response.status).toBe(503);
    expect(((await response.json()) as { detail: string }).detail).toContain(advice);
  });

  test('an unsupported type returns 415 and lists the supported types', async () => {
    const response = await send('text/csv', 'milk', { Accept: 'application/json' });
    expect(response.status).toBe(415);
    const types = 'text/plain, application/json, application/x-ndjson or a form';
    expect(((await response.json()) as { detail: string }).detail).toBe(`Send ${types}, not text/csv.`);
  });

  test('the import form shows all lines again if the store fails', async () => {
    const text = 'milk\nbread';
    const response = await submit(appFailing(), '/tasks/import', { text }, await visit(kept.app));
    expect(response.status).toBe(503);
    const html = await response.text();
    expect(html).toContain('The tasks cannot be reached.');
    expect(leftIn(html)).toBe(text);
  });
});

describe('An export', () => {
  test.each(['json', 'text'])('as %s recreates the list when imported', async (format) => {
    const task = { finished: 0, created_at: kept.now.toISOString() } as const;
    const titles = Array.from({ length: 1_100 }, (_, i) => `task ${i + 1} "<b>"`);
    await kept.store.insert(titles.map((title) => ({ ...task, title })));
    await kept.store.create({ title: '- [x] looks finished' }, kept.now);
    await kept.store.update('7', { finished: 1 }, kept.now);
    await kept.store.destroy('8', 'removal');
    const read = async () => (await allTasks(kept.store)).map(({ title, finished }) => ({ title, finished }));
    const before = await read();
    const response = await kept.app.request(`/tasks/export?format=${format}`);
    expect(response.headers.get('content-disposition')).toContain('attachment; filename="tasks.');
    const type = response.headers.get('content-type')?.split(';')[0] ?? '';
    const file = await response.text();
    if (format === 'json') expect(JSON.parse(file)).toHaveLength(1_100);
    await kept.empty();
    expect(await (await send(type, file)).json()).toMatchObject({ imported: 1_100, refused: 0 });
    expect(await read()).toEqual(before);
  });

  test('is valid JSON even if its first batches have no tasks', async () => {
    const done = { title: 'done', finished: 1, created_at: kept.now.toISOString() } as const;
    await kept.store.insert(Array(1_100).fill(done));
    await kept.store.clearFinished('removal');
    await kept.store.create({ title: 'the only one' }, kept.now);
    const response = await kept.app.request('/tasks/export?format=json');
    expect(await response.json()).toMatchObject([{ _id: '1101', title: 'the only one' }]);
  });

  test.each([
    ['json', 200, /^\[\s*\]\s*$/],
    ['text', 200, /^$/],
    ['xml', 400, /./],
  ])('of an empty list as %s responds with %i', async (format, status, content) => {
    const response = await kept.app.request(`/tasks/export?format=${format}`);
    expect(response.status).toBe(status);
    expect(await response.text()).toMatch(content);
  });

  /** Creates an application whose exports have many batches, and counts the batches that they have read. */
  const exporting = () => {
    const read = { batches: 0 };
    const task: Task = { _id: '1', title: 'x'.repeat(100), finished: 0, created_at: '', revision: 1 };
    const batches = async function* () {
      for (; read.batches < 100; read.batches += 1) yield Array(100).fill(task);
    };
    const app = testApp({ ...kept.store, export: batches });
    const begin = async (client = '192.0.2.1') =>
      app.request('/tasks/export', { headers: { 'X-Forwarded-For': client } });
    return { read, begin };
  };

  test('reads a batch only once the client has taken the batch before', async () => {
    const { read, begin } = exporting();
    const reader = ((await begin()).body as ReadableStream<Uint8Array>).getReader();
    for (let pieces = 0; pieces < 4; pieces += 1) {
      await reader.read();
      expect(read.batches).toBeLessThanOrEqual(pieces + 1);
    }
    await reader.cancel();
    expect(read.batches).toBeLessThan(5);
  });

  test.each([
    ['ends', async (response: Response) => void (await response.text())],
    ['is cancelled', async (response: Response) => response.body?.cancel()],
  ])("waits until one of the client's two exports %s", async (_, end) => {
    const { begin } = exporting();
    const [first] = await Promise.all([begin(), begin()]);
    let begun = 0;
    const third = begin().finally(() => {
      begun += 1;
    });
    await (await begin('192.0.2.2')).body?.cancel();
    expect(begun).toBe(0);
    await end(first);
    expect((await third).status).toBe(200);
  });

  test('waits for at most 8 s, and then keeps no place', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { begin } = exporting();
    const running = await Promise.all([begin(), begin()]);
    const third = begin();
    await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1));
    vi.advanceTimersByTime(8_000);
    const refused = await third;
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([503, '2']);
    expect(await refused.text()).toContain('Two exports are running.');
    for (const { body } of running) await body?.cancel();
    expect((await Promise.all([begin(), begin()])).map(({ status }) => status)).toEqual([200, 200]);
  });

  test('frees its place if the store fails, or for HEAD', async () => {
    const failing = testApp({
      ...kept.store,
      // biome-ignore lint/correctness/useYield: it fails before the first batch.
      async *export() {
        throw new TaskError('store_unavailable', 'The tasks cannot be reached.');
      },
    });
    for (let i = 0; i < 3; i += 1) expect((await failing.request('/tasks/export')).status).toBe(503);
    for (let i = 0; i < 3; i += 1) {
      expect((await kept.app.request('/tasks/export', { method: 'HEAD' })).status).toBe(200);
    }
  });
});
