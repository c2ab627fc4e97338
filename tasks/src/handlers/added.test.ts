import { expect, test } from 'vitest';
import { formFields, submit, useApp, type Visitor, visit } from '../../testing/app.ts';

const kept = useApp();
const referer = { Referer: 'http://localhost/' };
const cookieOf = (response: Response) => (response.headers.get('set-cookie') ?? '').split(';')[0] ?? '';

/** The fields of the form for Undo, if the page has one. */
function undoIn(html: string): Record<string, string> | undefined {
  const [form] = /<form [^>]*action="\/tasks\/added".*?<\/form>/s.exec(html) ?? [];
  if (!form) return undefined;
  const fields = form.matchAll(/name="([^"]*)" value="([^"]*)"/g);
  return Object.fromEntries(Array.from(fields, ([, name, value]) => [name, value]));
}

/** Returns a page for the visitor, who has the cookie of the last change, too. */
const page = async (visitor: Visitor, path: string, change: string) =>
  (await kept.app.request(path, { headers: { Cookie: `${visitor.cookie}; ${change}` } })).text();

/** Imports the lines in a form, and returns the cookie of the change. */
async function importLines(visitor: Visitor, text: string) {
  const fields = { text, nonce: visitor.nonce };
  const response = await submit(kept.app, '/tasks/import', fields, visitor, referer);
  return { response, change: cookieOf(response) };
}

/** Imports a file, and returns the page that the browser gets. */
async function importFile(visitor: Visitor, text: string, sentNonce?: string) {
  const form = new FormData();
  const { token, nonce } = formFields(await page(visitor, '/tasks/import', ''));
  form.set('_csrf', token);
  form.set('nonce', sentNonce ?? nonce);
  form.set('file', new Blob([text]), 'list.txt');
  const headers = { Cookie: visitor.cookie, ...referer };
  return kept.app.request('/tasks/import', { method: 'POST', body: form, headers });
}

const shownTitles = async () => (await kept.store.list({ filter: 'all' })).tasks.map(({ title }) => title);

test('Undo of an import removes its tasks in one removal, from the report and from the list', async () => {
  await kept.store.create({ title: 'rice' }, kept.now);
  const visitor = await visit(kept.app, {}, '/tasks/import');
  const { change } = await importLines(visitor, 'milk\nbread\ntea');
  for (const path of ['/tasks/import?imported=3&first=2', '/'])
    expect(undoIn(await page(visitor, path, change))).toMatchObject({ _method: 'DELETE', count: '3' });
  expect(await page(visitor, '/', change)).toContain('Added 3 tasks');
  const undo = undoIn(await page(visitor, '/', change)) ?? {};
  for (const _ of ['first', 'retry']) {
    const response = await submit(kept.app, '/tasks/added', undo, visitor);
    expect([response.status, response.headers.get('location')]).toEqual([303, '/?undone=3']);
    expect(await shownTitles()).toEqual(['rice']);
  }
  expect(await page(visitor, '/?undone=3', '')).toContain('Undone: 3 tasks deleted.');
  const [removal, ...others] = await kept.store.removals();
  expect([removal?.count, others]).toEqual([3, []]);
  await kept.store.restore(removal?.removal ?? '');
  expect(await shownTitles()).toEqual(['milk', 'bread', 'tea', 'rice']);
});

test('The report of an import without tasks offers no Undo of an earlier import', async () => {
  const visitor = await visit(kept.app, {}, '/tasks/import');
  const { change } = await importLines(visitor, 'milk\nbread');
  const { nonce } = formFields(await page(visitor, '/tasks/import', ''));
  const { response } = await importLines({ ...visitor, nonce }, '\n');
  expect(response.headers.get('location')).toBe('/tasks/import?imported=0');
  const report = await page(visitor, '/tasks/import?imported=0', change);
  expect(report).toContain('No tasks found.');
  expect(undoIn(report)).toBeUndefined();
});

test('A script whose response was lost gets Undo with the key of its request', async () => {
  const visitor = await visit(kept.app);
  const key = { 'Idempotency-Key': 'lost' };
  await submit(kept.app, '/task', { text: 'milk\nbread', nonce: visitor.nonce }, visitor, key);
  const asked = await kept.app.request('/', { headers: { Cookie: visitor.cookie, ...key } });
  const html = await asked.text();
  expect(html).toContain('data-added="2 1"');
  await submit(kept.app, '/tasks/added', undoIn(html) ?? {}, visitor);
  expect(await shownTitles()).toEqual([]);
});

test('Undo of an import keeps tasks that somebody has changed since, and says so', async () => {
  const visitor = await visit(kept.app, {}, '/tasks/import');
  const { change } = await importLines(visitor, 'milk\nbread\ntea');
  const undo = undoIn(await page(visitor, '/', change)) ?? {};
  await kept.store.update('2', { finished: 1 }, kept.now);
  const response = await submit(kept.app, '/tasks/added', undo, visitor);
  expect(response.headers.get('location')).toBe('/?undone=2&kept=1');
  expect(await page(visitor, '/?undone=2&kept=1', '')).toContain('1 changed since, and kept.');
  expect(await shownTitles()).toEqual(['bread']);
  const again = await submit(kept.app, '/tasks/added', { ...undo, nonce: 'another' }, visitor);
  expect(again.status).toBe(412);
  expect(await again.text()).toContain('Somebody has changed this task since. Nothing was undone.');
  await kept.store.destroy('2', 'removal');
  const last = await submit(kept.app, '/tasks/added', { ...undo, nonce: 'another' }, visitor);
  expect(last.status).toBe(404);
  expect(await last.text()).toContain('There is nothing left to undo here.');
});

test('An import that was sent twice, or that refuses lines, offers Undo, too', async () => {
  const visitor = await visit(kept.app, {}, '/tasks/import');
  const refused = `milk\n${'x'.repeat(501)}\nbread`;
  for (const _ of ['first', 'retry']) {
    const { response, change } = await importLines(visitor, refused);
    const inReport = undoIn(await response.text());
    expect(inReport).toMatchObject({ first: '1', count: '2' });
    expect(undoIn(await page(visitor, '/', change))).toMatchObject({ first: '1', count: '2' });
  }
  const response = await importFile(visitor, refused);
  expect(undoIn(await response.text())).toMatchObject({ first: '3', count: '2' });
});

test('Undo of a file of 12,000 lines is one removal, which can be restored', async () => {
  const visitor = await visit(kept.app);
  const file = Array.from({ length: 12_000 }, (_, i) => `task ${i}`).join('\n');
  const undo: Record<string, string> = {};
  // A busy machine may need several attempts.
  await expect
    .poll(
      async () =>
        Object.assign(
          undo,
          undoIn(await page(visitor, '/', cookieOf(await importFile(visitor, file, 'once')))),
        ),
      {
        timeout: 20_000,
      },
    )
    .toMatchObject({ count: '12000' });
  const response = await submit(kept.app, '/tasks/added', undo, visitor);
  expect(response.headers.get('location')).toBe('/?undone=12000');
  expect(await shownTitles()).toEqual([]);
  const [removal, ...others] = await kept.store.removals();
  expect([removal?.count, others]).toEqual([12_000, []]);
  expect(await kept.store.restore(removal?.removal ?? '')).toBe(12_000);
});

test('A task that was sent twice with one form offers Undo, which keeps the task if somebody has changed it', async () => {
  const visitor = await visit(kept.app);
  const add = () => submit(kept.app, '/task', { title: 'milk', nonce: visitor.nonce }, visitor, referer);
  const first = await add();
  expect(undoIn(await page(visitor, '/', cookieOf(first)))).toMatchObject({ first: '1', count: '1' });
  await kept.store.update('1', { title: 'oat milk' }, kept.now);
  kept.now = new Date(kept.now.getTime() + 1);
  const retry = await add();
  const undo = undoIn(await page(visitor, retry.headers.get('location') ?? '', cookieOf(retry))) ?? {};
  expect((await submit(kept.app, '/tasks/added', undo, visitor)).status).toBe(412);
  expect(await shownTitles()).toEqual(['oat milk']);
});

test.each([
  [{ first: '1', count: '0', revision: '1' }, 422],
  [{ first: '1', count: '12501', revision: '1' }, 422],
  [{ first: '0', count: '1', revision: '1' }, 422],
  [{ first: '1', count: '1' }, 422],
  [{ first: '1', count: '1', revision: '1', _method: 'POST' }, 400],
])('A form for Undo with %o is refused', async (fields, status) => {
  const visitor = await visit(kept.app);
  const sent = { _method: 'DELETE', ...fields } as Record<string, string>;
  expect((await submit(kept.app, '/tasks/added', sent, visitor)).status).toBe(status);
});
