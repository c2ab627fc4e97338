import { beforeEach, expect, test } from 'vitest';
import { storeId, submit, useApp, type Visitor, visit } from '../../testing/app.ts';

const kept = useApp();
let visitor: Visitor;
const referer = { Referer: 'http://localhost/' };
const cookieOf = (response: Response) => response.headers.get('set-cookie') ?? '';
const emoji = '👩'.repeat(500);

beforeEach(async () => {
  visitor = await visit(kept.app);
  await kept.store.create({ title: 'milk' }, kept.now);
});

/** Returns the list page for a browser with `cookie`. */
const list = async (cookie: string) =>
  (await kept.app.request('/', { headers: { Cookie: cookie.split(';')[0] ?? '' } })).text();

test('The cookie for the last change has room for the longest title', async () => {
  const task = await kept.store.show('1');
  const edit = { _method: 'PUT', revision: `${task.revision}`, 'was.title': emoji, title: 'tea' };
  const cookie = cookieOf(await submit(kept.app, '/tasks/1', edit, visitor, referer));
  expect(cookie).toMatch(/^change-963eb692=[\w-]+; Max-Age=60; Path=\/; HttpOnly; SameSite=Lax$/);
  expect(cookie.split(';')[0]?.length).toBeLessThan(4_096);
  const page = await kept.app.request('/', {
    headers: { Cookie: `${visitor.cookie}; ${cookie.split(';')[0]}` },
  });
  expect(cookieOf(page)).toMatch(/^change-963eb692=; Max-Age=0;/);
  expect(await page.text()).toContain(`name="title" value="${emoji}"`);
});

test('The last change can be undone after a page that failed', async () => {
  const cookie = cookieOf(await kept.app.request('/task/1/finish', { headers: referer }));
  await kept.server.pause();
  const failed = await kept.app.request('/', { headers: { Cookie: cookie.split(';')[0] ?? '' } });
  await kept.server.resume();
  expect([failed.status, cookieOf(failed)]).toEqual([503, '']);
  await expect.poll(() => list(cookie)).toContain('Undo');
});

test('Only a change made in a browser sets the cookie, and invalid cookies are ignored', async () => {
  expect(cookieOf(await kept.app.request('/task/1/finish'))).toBe('');
  kept.now = new Date(kept.now.getTime() + 1);
  const retry = cookieOf(await kept.app.request('/task/1/finish', { headers: referer }));
  expect(await list(retry)).toContain('Undo');
  const cookie = cookieOf(await kept.app.request('/task/1/unfinish', { headers: referer }));
  expect(await list(cookie)).toContain('Reopened');
  for (const value of ['x', 'e30', Buffer.from('{"id":"1 "}').toString('base64url')])
    expect(await list(`change-${storeId}=${value}`)).not.toContain('Undo');
});
