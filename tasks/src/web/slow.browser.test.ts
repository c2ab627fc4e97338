import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import {
  edit,
  enter,
  field,
  focused,
  loseResponse,
  notice,
  operations,
  paste,
  poll,
  stored,
  titles,
  useBrowser,
  waiting,
} from '../../testing/browser.ts';

const site = useBrowser();

/** Delays requests to `path` until `letGo`, and counts the POSTs. */
async function slow(page: Page, path: string) {
  const held = Promise.withResolvers<void>();
  const seen = { sent: 0, letGo: held.resolve };
  await page.route(path, async (route) => {
    if (route.request().method() === 'POST') seen.sent += 1;
    await held.promise;
    await route.continue();
  });
  return seen;
}

/** Waits until no change is under way. */
const idle = (page: Page) => poll(() => page.locator('body.busy').count()).toBe(0);
const follow = (name: string) => (page: Page) => page.getByRole('link', { name, exact: true }).click();

describe('On a slow connection', () => {
  const finish = (page: Page, title: string) =>
    page.getByRole('link', { name: `Finish: ${title}`, exact: true }).click();

  test('finished and reopened tasks change immediately, before the rows move', async () => {
    await site.add('milk', 'bread', 'tea', 'rice');
    await site.store.update('2', { finished: 1 }, new Date());
    const page = await site.open();
    const connection = await slow(page, '**/task/*/*');
    const last = await slow(page, '**/task/3/unfinish');
    await finish(page, 'tea');
    await poll(() => titles(page)).toEqual(['rice', 'milk', '(tea)', '(bread)']);
    await finish(page, 'milk');
    for (const title of ['bread', 'tea']) await page.getByRole('link', { name: `Reopen: ${title}` }).click();
    await poll(() => titles(page)).toEqual(['rice', 'tea', 'bread', '(milk)']);
    connection.letGo();
    await page.locator('#task-2:not([data-pending])').waitFor();
    expect(await titles(page)).toEqual(['rice', 'tea', 'bread', '(milk)']);
    last.letGo();
    await idle(page);
    expect(await titles(page)).toEqual(['rice', 'tea', 'bread', '(milk)']);
  });

  test('a task that is reopened twice moves only after the last response', async () => {
    await site.add('milk', 'bread', 'tea');
    await site.store.update('2', { finished: 1 }, new Date());
    const page = await site.open();
    const last = await slow(page, '**/task/2/unfinish');
    const first = Promise.withResolvers<void>();
    await page.route('**/task/2/unfinish', (route) => first.promise.then(() => route.continue()), {
      times: 1,
    });
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    for (const _ of 'RF') await page.locator('#task-2 .toggle').click();
    const before = Date.now();
    await page.locator('#task-2 .toggle').click();
    // Before its turn, each tick is stored.
    await poll(async () => (await operations(page))[0]?.at).toBeGreaterThanOrEqual(before);
    const requested = page.waitForRequest('**/task/2/unfinish');
    first.resolve();
    await requested;
    expect(await titles(page)).toEqual(['tea', 'milk', 'bread']);
    last.letGo();
    await poll(() => titles(page)).toEqual(['tea', 'bread', 'milk']);
    // The tick in between was no longer wanted when its turn came.
    expect(asked).not.toContain('/task/2/finish');
  });

  test('finished and deleted tasks change immediately, and change back after a failure without leaving the page', async () => {
    await site.add('milk', 'bread', 'tea');
    const page = await site.open();
    const held = Promise.withResolvers<void>();
    await page.route(/\/tasks?\/\d/, (route) => held.promise.then(() => route.abort()));
    await page.getByRole('button', { name: 'Delete: bread' }).click();
    for (const title of ['milk', 'tea']) await finish(page, title);
    await poll(() => titles(page)).toEqual(['(tea)', '(milk)']);
    await follow('Open')(page);
    held.resolve();
    const failed = (title: string) => `\u2068${title}\u2069: No answer. It may not be saved. Close`;
    const bread = '\u2068bread\u2069: No answer. It may be deleted. Recently deleted Close';
    await poll(() => notice(page)).toBe(failed('tea') + failed('milk') + bread);
    await poll(() => titles(page)).toEqual(['tea', 'bread', 'milk']);
  });

  test('an error stays after later changes, until the same task changes', async () => {
    await site.add('milk', 'bread');
    const page = await site.open();
    await page.route('**/task/1/finish', (route) => route.abort(), { times: 1 });
    for (const title of ['milk', 'bread']) await finish(page, title);
    const failed = '\u2068milk\u2069: No answer. It may not be saved. Close';
    await poll(() => notice(page)).toMatch(new RegExp(`^\\s*${failed}\\s*Finished: bread\\s+Undo`));
    await field(page).fill('tea');
    await field(page).press('Enter');
    await poll(() => notice(page)).toMatch(new RegExp(`^\\s*${failed}\\s*Added: tea\\s+Undo\\s*$`));
    await finish(page, 'milk');
    await poll(() => notice(page)).toMatch(/^\s*Finished: milk/);
  });

  test.each([
    ['a filter', follow('Finished'), ['(milk)']],
    ['Find', (page: Page) => page.getByRole('button', { name: 'Find' }).click(), ['(milk)']],
    ['Show all tasks', follow('Show all tasks'), ['bread', '(milk)']],
    ['Keyboard shortcuts', follow('Keyboard shortcuts'), []],
  ])('%s waits for changes under way', async (_, leave, shown) => {
    await site.add('milk', 'bread');
    const page = await site.open('/?q=milk');
    const connection = await slow(page, '**/task/*/*');
    await finish(page, 'milk');
    await leave(page);
    const left = page.waitForEvent('framenavigated');
    connection.letGo();
    await left;
    await poll(() => titles(page)).toEqual(shown);
    expect((await site.store.show('1')).finished).toBe(1);
  });

  test('leaving the page during a change needs a confirmation', async () => {
    await site.add('milk');
    const page = await site.openNew('/');
    const connection = await slow(page, '**/task/*/*');
    await finish(page, 'milk');
    const asked = page.waitForEvent('dialog');
    const closed = page.close({ runBeforeUnload: true });
    const dialog = await asked;
    expect(dialog.type()).toBe('beforeunload');
    await dialog.dismiss();
    await closed;
    connection.letGo();
    await poll(async () => (await site.store.show('1')).finished).toBe(1);
  });

  test('the field accepts the next task immediately', async () => {
    const page = await site.open();
    const connection = await slow(page, '**/task');
    await enter(page, 'milk', 'bread', 'bread', 'tea');
    expect(await field(page).inputValue()).toBe('');
    // Enter in an empty field does nothing.
    await page.keyboard.press('Enter');
    connection.letGo();
    await poll(() => titles(page)).toEqual(['tea', 'bread', 'bread', 'milk']);
    expect(connection.sent).toBe(4);
  });

  test('all tasks return to the field if the first request fails, and Enter adds the tasks again', async () => {
    const page = await site.openNew('/');
    const held = Promise.withResolvers<void>();
    await page.route('**/task', (route) => held.promise.then(() => route.abort()), { times: 1 });
    await enter(page, 'milk', 'bread');
    await page.keyboard.type('tea');
    await page.setViewportSize({ width: 1280, height: 100 });
    await page.evaluate('scrollTo(0, 999)');
    held.resolve();
    await poll(() => notice(page)).toBe('No answer. It may not be saved. Show Close');
    expect(await field(page).inputValue()).toBe('milk\nbread\ntea');
    await page.getByRole('button', { name: 'Add 3 tasks' }).waitFor();
    await page.keyboard.press('Enter');
    await poll(() => titles(page)).toEqual(['tea', 'bread', 'milk']);
    await page.getByRole('button', { name: 'Add', exact: true }).waitFor();
  });
});

test('A task that leaves the list while its deletion waits for its turn is deleted', async () => {
  await site.add('milk', 'bread');
  const page = await site.open('/?filter=open');
  const { letGo } = await slow(page, '**/finish*');
  await page.getByLabel('Finish: milk').click();
  await page.getByRole('button', { name: 'Delete: milk' }).click();
  letGo();
  await poll(() => notice(page)).toContain('Deleted: milk');
  expect(await stored(site)).toEqual(['bread']);
});

test('A text in place of a draft that was sent before a reload is added, too', async () => {
  const page = await site.open();
  await field(page).fill('milk');
  const draft = await page.evaluate("sessionStorage.getItem('drafts')");
  await field(page).press('Enter');
  await poll(() => notice(page)).toContain('Added: milk');
  await idle(page);
  // As if the page had ended before it dropped the draft.
  const restore = () => page.evaluate(`sessionStorage.setItem('drafts', ${JSON.stringify(draft)})`);
  await restore();
  await page.reload();
  await poll(() => field(page).inputValue()).toBe('milk');
  await field(page).fill('bread');
  await field(page).press('Enter');
  await poll(() => stored(site)).toEqual(['bread', 'milk']);
  await idle(page);
  await restore();
  await page.reload();
  await field(page).press('Enter');
  await poll(() => notice(page)).toContain('Added: milk');
  expect(await stored(site)).toEqual(['bread', 'milk']);
});

test('Tasks typed offline stay in the field, one per line', async () => {
  const page = await site.open();
  await page.route('**/task', (route) => route.abort(), { times: 2 });
  await enter(page, 'oat milk');
  await poll(() => field(page).inputValue()).toBe('oat milk\n');
  await site.add('milk');
  await poll(() => titles(page)).toEqual(['milk']);
  await enter(page, 'bread');
  await poll(() => field(page).inputValue()).toBe('oat milk\nbread\n');
  await enter(page, 'tea');
  await poll(() => titles(page)).toEqual(['tea', 'bread', 'oat milk', 'milk']);
});

test('Tasks that return to the field and are added again at once keep their turn, even if the storage answers late', async () => {
  const page = await site.openNew('/');
  // The page sends nothing before it has read its storage.
  await enter(page, 'jam');
  await poll(() => stored(site)).toEqual(['jam']);
  await poll(() => waiting(page)).toEqual([]);
  await page.evaluate(`
    globalThis.answered = Promise.withResolvers();
    Object.defineProperty(IDBTransaction.prototype, 'oncomplete', {
      set(listener) {
        this.addEventListener('complete', () => answered.promise.then(listener));
      },
    });`);
  await page.route('**/task', (route) => route.abort(), { times: 1 });
  await field(page).fill('milk\nbread');
  await page.keyboard.press('Enter');
  await poll(() => field(page).inputValue()).toBe('milk\nbread\n');
  const held = Promise.withResolvers<void>();
  await page.route('**/task', (route) => held.promise.then(() => route.continue()));
  await enter(page, 'tea');
  await poll(() => waiting(page)).toEqual(['milk', 'bread', 'tea']);
  await page.evaluate('answered.resolve()');
  held.resolve();
  await poll(() => stored(site)).toEqual(['tea', 'bread', 'milk', 'jam']);
});

test('A task saved despite a failed response is removed from the field once the list shows the task', async () => {
  const page = await site.open();
  let sent = 0;
  page.on('request', (request) => {
    if (request.method() === 'POST') sent += 1;
  });
  await site.whileStoreHangs(async () => {
    await enter(page, 'milk', 'bread', 'milk');
    await poll(() => page.locator('.problem').textContent()).toMatch(/cannot be reached/);
    expect(await field(page).inputValue()).toBe('milk\nbread\nmilk\n');
  });
  await poll(() => field(page).inputValue()).toBe('bread\nmilk\n');
  expect(await page.locator('.problem').textContent()).toMatch(/^The rest was not sent/);
  await poll(() => notice(page)).toMatch(/^\s*Added: milk\s+Undo\s*$/);
  expect(sent).toBe(1);
  await page.reload();
  expect(await field(page).inputValue()).toBe('bread\nmilk\n');
  await field(page).fill('milk');
  await page.keyboard.press('Enter');
  await poll(() => titles(page)).toEqual(['milk', 'milk']);
});

test('After a second press of Add, nothing takes the same text that the user types next', async () => {
  const page = await site.open();
  await loseResponse(page, '**/task');
  // The page cannot ask whether the first request has added the task.
  await page.route(/\/\?[^/]*$/, (route) => route.abort());
  await enter(page, 'milk');
  await poll(() => field(page).inputValue()).toBe('milk\n');
  await page.keyboard.press('Enter');
  await poll(() => titles(page)).toEqual(['milk']);
  await page.keyboard.type('milk');
  await page.unrouteAll();
  for (const shown of ['1 change.', '2 changes.']) {
    await site.add('tea');
    await poll(() => notice(page)).toContain(shown);
  }
  expect(await field(page).inputValue()).toBe('milk');
});

test('A saved edit closes its form even if a proxy answers 502 once for the list', async () => {
  await site.add('milk');
  const page = await site.openNew('/');
  const session = await page.context().newCDPSession(page);
  let failures = 1;
  // The page may also load a part of the list, because it hears of the change.
  const isWhole = (url: string) => new URL(url).pathname === '/';
  session.on('Fetch.requestPaused', ({ requestId, request: { method, url } }) =>
    method === 'GET' && isWhole(url) && failures-- > 0
      ? session.send('Fetch.fulfillRequest', { requestId, responseCode: 502 }).catch(String)
      : session.send('Fetch.continueRequest', { requestId }).catch(String),
  );
  await session.send('Fetch.enable', { patterns: [{ resourceType: 'Fetch' }] });
  await edit(page, 1, ' and tea');
  await page.keyboard.press('Enter');
  await poll(() => notice(page)).toMatch(/Saved: milk and tea/);
  expect([await page.locator('.problem').count(), failures]).toEqual([0, -1]);
  failures = 2;
  await page.getByLabel('Delete: milk and tea').click();
  await poll(() => notice(page)).toMatch(/(It may be deleted|Deleted: milk and tea).*Recently deleted/);
});

describe('Between a keypress and its response', () => {
  test('the edit form opens immediately without a request, so no key acts on the row', async () => {
    await site.add('milk', 'bread');
    const page = await site.open();
    await page.route('**/edit*', (route) => route.abort());
    await page.locator('#task-2').focus();
    for (const key of ['Enter', 'Backspace', 'Space', 'n']) await page.keyboard.press(key);
    expect(await page.locator('#title-2').inputValue()).toBe('brea n');
    await page.keyboard.press('Escape');
    await page.locator('#task-1 .title').dblclick();
    await page.keyboard.type(' and tea');
    await page.keyboard.press('Enter');
    await poll(() => titles(page)).toEqual(['bread', 'milk and tea']);
  });

  test('an edit does not conflict with finishing the same task first', async () => {
    await site.add('milk');
    const page = await site.open();
    const connection = await slow(page, '**/finish');
    await page.locator('#task-1').focus();
    for (const key of ['Space', 'Enter', 's', 'Enter']) await page.keyboard.press(key);
    connection.letGo();
    await poll(() => titles(page)).toEqual(['(milks)']);
  });

  test('an edit is locked during its request, and a failure keeps the text', async () => {
    await site.add('milk', 'bread');
    const page = await site.open();
    const held = Promise.withResolvers<void>();
    await page.route('**/tasks/1', (route) => held.promise.then(() => route.abort()));
    await edit(page, 1, ', two');
    for (const key of ['Enter', 'ArrowUp']) await page.keyboard.press(key);
    expect(await focused(page)).toBe('task-2');
    await page.locator('#title-1').focus();
    await enter(page, ', nine?');
    expect(await focused(page)).toBe('list');
    await page.keyboard.press('Escape');
    await page.locator('.editing .cancel').click();
    expect(await page.locator('#title-1').inputValue()).toBe('milk, two');
    held.resolve();
    await poll(() => page.locator('.problem').textContent()).toBe('No answer. It may not be saved.');
    expect(await page.locator('#title-1').inputValue()).toBe('milk, two');
  });

  test('a click on Undo is ignored, because Undo belongs to an earlier change', async () => {
    await site.add('milk', 'bread');
    const page = await site.open();
    await page.getByLabel('Finish: milk').click();
    const undo = await page.getByRole('button', { name: 'Undo' }).boundingBox();
    const connection = await slow(page, '**/tasks/2');
    await page.getByLabel('Delete: bread').click();
    await page.mouse.click((undo?.x ?? 0) + 9, (undo?.y ?? 0) + 9);
    connection.letGo();
    await poll(() => notice(page)).toMatch(/^\s*Deleted: bread\s+Undo\s*$/);
    expect(await titles(page)).toEqual(['(milk)']);
  });

  test('a script error is logged to the console without showing the message to the user', async () => {
    await site.add('milk');
    const page = await site.open();
    const logged = page.waitForEvent('console', (message) => message.type() === 'error');
    await page.evaluate('DOMParser.prototype.parseFromString = () => null');
    await page.getByLabel('Finish: milk').click();
    await poll(() => notice(page)).toBe('Something went wrong. Reload the page. Close');
    expect((await logged).text()).toContain('TypeError');
    await field(page).focus();
    await enter(page, 'bread');
    await poll(() => field(page).inputValue()).toBe('bread\n');
  });

  test('a half-typed edit survives a reload even if the task was deleted, restored, or filtered out', async () => {
    await site.add('milk', 'bread', 'tea');
    const page = await site.open('/?filter=open');
    for (const id of [1, 2, 3]) await edit(page, id, ', two');
    for (const id of ['1', '3']) await site.store.destroy(id, `removal ${id}`);
    await site.store.update('2', { finished: 1 }, new Date());
    await page.reload();
    await poll(() => page.locator('#task-1 .problem').textContent()).toContain('Add saves it as a new task.');
    expect(await page.locator('#title-1').inputValue()).toBe('milk, two');
    expect(await focused(page)).toBe('title-3');
    const press = (id: number, name: string) => page.locator(`#task-${id} .main`, { hasText: name }).click();
    await press(1, 'Add');
    await press(2, 'Save');
    await page.locator('#title-3').fill('tea for three');
    await site.store.restore('removal 3');
    await site.store.update('3', { title: 'green tea' }, new Date());
    await press(3, 'Save');
    await poll(() => page.locator('#task-3 .problem').textContent()).toContain('It is open now and reads');
    await press(3, 'Save');
    await poll(() => page.locator('.editing').count()).toBe(0);
    expect(await stored(site)).toEqual(['milk, two', 'tea for three', 'bread, two']);
    await page.reload();
    expect(await titles(page)).toEqual(['milk, two', 'tea for three']);
  });

  test('Save adds nothing once the task turns out to be deleted', async () => {
    await site.add('milk');
    const page = await site.open();
    await edit(page, 1, ' and bread');
    await site.store.destroy('1', 'gone');
    const answer = await slow(page, '**/tasks/1/edit');
    await page.reload();
    const form = page.locator('.editing');
    await form.getByRole('button', { name: 'Save' }).click();
    answer.letGo();
    await poll(() => form.getByRole('alert').textContent()).toContain('Add saves it as a new task.');
    await idle(page);
    expect(await stored(site)).toEqual([]);
    await form.getByRole('button', { name: 'Add' }).click();
    await poll(() => stored(site)).toEqual(['milk and bread']);
  });

  test.each(['/', '/tasks/1/edit'])('an edit of a deleted task (on %s) is added only once', async (path) => {
    await site.add('milk');
    const page = await site.open(path);
    if (path === '/') await edit(page, 1, '');
    await page.locator('#title-1').fill('milk, two');
    await site.store.destroy('1', 'removal');
    await page.keyboard.press('Enter');
    const add = page.getByText('Add', { exact: true }).last();
    await poll(() => page.locator('.problem').textContent()).toContain('Add saves your text as a new task.');
    await loseResponse(page, '**/tasks');
    await add.click();
    await poll(() => stored(site)).toEqual(['milk, two']);
    // The error page may still be loading.
    await poll(() => page.goto(site.url).then(Boolean, () => false)).toBe(true);
    await poll(() => page.locator('#task-1 .problem').textContent()).toContain('Add saves it as a new task.');
    await add.click();
    await poll(() => page.locator('.editing').count()).toBe(0);
    expect(await stored(site)).toEqual(['milk, two']);
  });

  test.each([
    ['/tasks/new', 'title', 'half a task'],
    ['/tasks/1/edit', 'title', 'half a task'],
    ['/tasks/import', 'text', '1 task imported'],
  ])('%s keeps unsaved text across a reload, and a failed submit and Back', async (path, name, saved) => {
    await site.add('milk');
    const page = await site.open();
    for (const address of ['/', path]) await page.goto(address, { referer: site.url });
    const text = page.locator(`[name=${name}]`);
    const submit = page.locator('.write .main').first();
    await text.fill('half a task');
    await page.reload();
    await poll(() => text.inputValue()).toBe('half a task');
    await page.route(/\/tasks?(\/1|\/import)?$/, (route) => route.abort(), { times: 1 });
    await submit.click();
    await poll(() => page.url()).toMatch(/^chrome-error/);
    // The error page may still be loading.
    const goBack = () => page.goBack().then(Boolean, () => undefined);
    await poll(goBack).toBeDefined();
    // The error page has replaced the import page, so Back returns to the list.
    if (name === 'text') await page.getByRole('link', { name: 'Import' }).click();
    await poll(() => text.inputValue()).toBe('half a task');
    await submit.click();
    await poll(() => page.locator('main').textContent()).toContain(saved);
    await poll(() => page.evaluate('sessionStorage.drafts')).toBe('{}');
    await page.goBack();
    await poll(() => text.inputValue()).toBe(path === '/tasks/1/edit' ? 'half a task' : '');
  });

  test('a second paste is appended to the first, even after a lost response, or waits for its response', async () => {
    const page = await site.open();
    // A page that hears of the new tasks drops their lines.
    await page.evaluate("dispatchEvent(new Event('pagehide'))");
    await paste(page, 'milk\nbread');
    await loseResponse(page, '**/task');
    await page.getByRole('button', { name: 'Add 2 tasks' }).click();
    await page.locator('.problem').waitFor();
    await page.reload();
    await paste(page, 'tea');
    const connection = await slow(page, '**/task');
    await page.getByRole('button', { name: 'Add 3 tasks' }).click();
    await paste(page, 'jam\nrice');
    expect(await page.locator('form.lines').count()).toBe(1);
    connection.letGo();
    await poll(() => titles(page)).toEqual(['tea', 'milk', 'bread']);
    const second = await slow(page, '**/task');
    await page.getByRole('button', { name: 'Add 2 tasks' }).click();
    await edit(page, 1, ' and');
    second.letGo();
    await poll(() => page.locator('form.lines').count()).toBe(0);
    await page.keyboard.type(' honey');
    await page.keyboard.press('Enter');
    await poll(() => titles(page)).toEqual(['jam', 'rice', 'tea', 'milk', 'bread and honey']);
  });

  test('an identical title typed during the first request survives a reload', async () => {
    const page = await site.open();
    const connection = await slow(page, '**/task');
    await enter(page, 'milk');
    await page.keyboard.type('milk');
    connection.letGo();
    await poll(() => titles(page)).toEqual(['milk']);
    await page.reload();
    await field(page).press('Enter');
    await poll(() => titles(page)).toEqual(['milk', 'milk']);
  });

  test('the page explains a lost response, and then shows the current list', async () => {
    await site.add('milk', 'bread', 'tea');
    const page = await site.open();
    // A list that already shows the change would explain nothing.
    const tick = await slow(page, '**/tasks/partial*');
    await loseResponse(page, '**/task/1/finish');
    await page.getByLabel('Finish: milk').click();
    await poll(() => notice(page)).toBe('\u2068milk\u2069: No answer. It may not be saved. Close');
    tick.letGo();
    await poll(() => titles(page)).toEqual(['tea', 'bread', '(milk)']);
    const removal = await slow(page, '**/tasks/partial*');
    await loseResponse(page, '**/tasks/2');
    await page.getByLabel('Delete: bread').click();
    const deleted = '\u2068bread\u2069: No answer. It may be deleted. Recently deleted Close';
    await poll(() => notice(page)).toContain(deleted);
    removal.letGo();
    await poll(() => titles(page)).toEqual(['tea', '(milk)']);
    await loseResponse(page, '**/tasks/3');
    await edit(page, 3, ' pot');
    await page.keyboard.press('Enter');
    await poll(() => page.locator('.problem').textContent()).toBe('No answer. It may not be saved.');
    await page.locator('#title-3').press('Enter');
    await poll(() => titles(page)).toEqual(['tea pot', '(milk)']);
    await loseResponse(page, '**/tasks/3');
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('tea pot\u2069: No answer. It may not be saved.').waitFor();
    await poll(() => titles(page)).toEqual(['tea', '(milk)']);
  });
});
