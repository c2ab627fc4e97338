import { describe, expect, test } from 'vitest';
import { testApp, useApp, visit } from '../../testing/app.ts';
import type { TaskStore } from '../task/task.ts';

const kept = useApp();

/** Sends a list as a browser does that submits a form with a long text. */
async function send(path: string, text: string, more: Record<string, string> = {}, app = kept.app) {
  const { cookie, token, nonce } = await visit(app);
  const body = new FormData();
  for (const [name, value] of Object.entries({ _csrf: token, nonce, text, ...more })) body.set(name, value);
  const { headers } = new Request('http://localhost', { method: 'POST', body });
  const sent = Buffer.from(await new Response(body, { headers }).arrayBuffer());
  const [, boundary = ''] = /^--(.+)\r\n/.exec(sent.toString('latin1')) ?? [];
  const length = {
    'Content-Length': `${sent.length}`,
    'Content-Type': `multipart/form-data; boundary=${boundary}`,
  };
  return app.request(path, { method: 'POST', body: sent, headers: { Cookie: cookie, ...length } });
}

/** 2,500 lines, whose percent-encoded form would have 3 MB. */
const list = Array.from({ length: 2_500 }, (_, i) => `${i} ${'é'.repeat(205)}`).join('\n');
const mebibyte = 1024 ** 2;

describe.each(['/task', '/tasks', '/tasks/import'])('A list in a form (%s)', (path) => {
  test('may have 1 MiB of text', async () => {
    expect(Buffer.byteLength(list)).toBeGreaterThan(0.98 * mebibyte);
    const response = await send(path, list.padEnd(list.length + mebibyte - Buffer.byteLength(list)));
    expect(response.headers.get('location')).toMatch(/^\/(tasks\/import\?imported=2500&first=1)?$/);
    expect((await kept.store.list({ filter: 'all' })).open).toBe(2_500);
  });

  test.each([
    [413, 'This is too long. The limit is 1 MiB. Send it in parts.', `${list}${' '.repeat(100_000)}`, {}],
    [413, 'At most 12,500 tasks can be added at once. Send them in parts.', 'a\n'.repeat(12_501), {}],
    [422, 'The field &quot;title&quot; is too long.', 'milk', { title: 'x'.repeat(5_000) }],
  ])('returns %i if it is longer: %s', async (status, detail, text, more) => {
    const response = await send(path, text, more);
    expect(response.status).toBe(status);
    expect(await response.text()).toContain(detail);
    expect((await kept.store.list({ filter: 'all' })).open).toBe(0);
  });

  test('over 64 KiB is refused while the same client imports', async () => {
    const waiting = Promise.withResolvers<undefined>();
    const insert: TaskStore['insert'] = () => waiting.promise;
    const app = testApp({ ...kept.store, insert }, { now: () => kept.now });
    const first = send(path, list, {}, app);
    await expect.poll(async () => (await send(path, list, {}, app)).status).toBe(503);
    waiting.resolve(undefined);
    expect((await first).status).toBeLessThan(400);
    expect((await send(path, list, {}, app)).status).toBeLessThan(400);
  });
});

test('A short pasted list is added while the same client imports', async () => {
  const waiting = Promise.withResolvers<undefined>();
  const insert: TaskStore['insert'] = (tasks, ...more) =>
    tasks.length > 2 ? waiting.promise : kept.store.insert(tasks, ...more);
  const app = testApp({ ...kept.store, insert }, { now: () => kept.now });
  const long = send('/task', list, {}, app);
  await expect.poll(async () => (await send('/task', list, {}, app)).status).toBe(503);
  expect((await send('/task', 'milk\nbread', {}, app)).status).toBe(302);
  waiting.resolve(undefined);
  await long;
});
