import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import {
  appeared,
  edit,
  enter,
  field,
  focused,
  loseResponse,
  notice,
  paste,
  poll,
  stored,
  titles,
  useBrowser,
} from '../../testing/browser.ts';

const site = useBrowser();

describe('The list page with scripts', () => {
  /** Opens the list, and sets a mark that a page load would remove. */
  async function openList() {
    const page = await site.open();
    await page.evaluate('window.stayed = true');
    return page;
  }
  const stayed = (page: Page) => page.evaluate('window.stayed');

  test('shows and announces each change without a page load', async () => {
    await site.add('milk', 'bread', 'tea');
    const page = await openList();
    const press = (role: 'link' | 'button', name: string) => page.getByRole(role, { name }).click();
    const shows = async (shown: string[], said: string | RegExp) => {
      await poll(() => titles(page)).toEqual(shown);
      await poll(() => notice(page)).toMatch(said);
    };
    await press('link', 'Finish: bread');
    await shows(['tea', 'milk', '(bread)'], /^\s*Finished: bread\s+Undo\s*$/);
    expect(await page.locator('#count').textContent()).toBe('2 open, 1 finished');
    await press('link', 'Reopen: bread');
    await shows(['tea', 'bread', 'milk'], /^\s*Reopened: bread\s+Undo\s*$/);
    await edit(page, 1, '');
    await enter(page, ' and honey');
    await shows(['tea', 'bread', 'milk and honey'], /^\s*Saved: milk and honey\s+Undo\s*$/);
    await poll(() => focused(page)).toBe('task-1');
    await press('button', 'Delete: bread');
    await shows(['tea', 'milk and honey'], /^\s*Deleted: bread\s+Undo\s*$/);
    await press('button', 'Undo');
    await shows(['tea', 'bread', 'milk and honey'], /^Restored: bread$/);
    await poll(() => focused(page)).toBe('list');
    await press('link', 'Finish: tea');
    await press('link', 'Finish: bread');
    await press('button', 'Clear finished');
    await shows(['milk and honey'], /^\s*Cleared 2 tasks\s+Undo\s*$/);
    // Wait until the focus leaves the text field, where Ctrl+Z is the browser's own undo.
    await poll(() => focused(page)).toBe('list');
    await poll(() => page.getByRole('button', { name: 'Clear finished' }).isVisible()).toBe(false);
    await page.keyboard.press('ControlOrMeta+Z');
    await shows(['milk and honey', '(tea)', '(bread)'], /^Restored/);
    expect(await stayed(page)).toBe(true);
  });

  test('can undo a deletion that a hung Redis executes late', async () => {
    await site.add('milk', 'bread');
    const page = await site.open();
    await site.whileStoreHangs(async () => {
      await page.getByRole('button', { name: 'Delete: milk' }).click();
      await poll(() => notice(page)).toMatch(/milk.*cannot be reached.* Recently deleted Close$/);
    });
    await poll(async () => (await site.store.list({ filter: 'all' })).open).toBe(1);
    await page.getByRole('status').getByRole('link', { name: 'Recently deleted' }).click();
    await page.getByRole('button', { name: 'Restore: milk' }).click();
    await page.getByRole('link', { name: 'All tasks' }).click();
    await poll(() => titles(page)).toEqual(['bread', 'milk']);
  });

  test('keeps a half-typed task across a reload, or Import and Back', async () => {
    const page = await openList();
    await page.keyboard.type('half a task');
    await page.reload();
    await poll(() => field(page).inputValue()).toBe('half a task');
    await page.getByRole('link', { name: 'Import' }).click();
    await poll(() => page.locator('h1').textContent()).toBe('Import tasks');
    await page.goBack();
    await poll(() => field(page).inputValue()).toBe('half a task');
    const other = await page.context().newPage();
    await other.goto('/');
    await poll(() => field(other).inputValue()).toBe('');
    await field(page).press('Enter');
    await poll(() => titles(page)).toEqual(['half a task']);
    await page.reload();
    expect(await field(page).inputValue()).toBe('');
  });

  test('keeps half-typed edits across a reload, and never silently overwrites a change', async () => {
    await site.add('milk', 'bread');
    const page = await openList();
    await edit(page, 1, ', two');
    await edit(page, 2, ', two');
    await page.reload();
    await poll(() => page.locator('#title-1').inputValue()).toBe('milk, two');
    await poll(() => page.locator('#title-2').inputValue()).toBe('bread, two');
    await page.locator('#title-1').press('Enter');
    await poll(() => notice(page)).toContain('Saved: milk, two');
    await site.store.update('2', { title: 'rye bread' }, new Date());
    await page.reload();
    expect(await page.locator('#title-1').count()).toBe(0);
    await page.locator('#title-2').press('Enter');
    await poll(() => page.locator('.editing .problem').textContent()).toBe(
      'Somebody else changed this task. It is open now and reads “\u2068rye bread\u2069”. Save replaces its title with yours.',
    );
    expect(await page.locator('#title-2').inputValue()).toBe('bread, two');
    await page.locator('#title-2').press('Enter');
    await poll(() => titles(page)).toEqual(['bread, two', 'milk, two']);
    await edit(page, 2, ', three');
    await page.keyboard.press('Escape');
    await page.reload();
    await poll(() => titles(page)).toEqual(['bread, two', 'milk, two']);
  });

  test('treats a response from another site as a failure', async () => {
    const page = await openList();
    const portal = { contentType: 'text/html', body: '<h1>Welcome to the hotel. Please log in.</h1>' };
    await page.route('**/task', (route) => route.fulfill(portal));
    await enter(page, 'milk');
    await poll(() => page.getByRole('alert').textContent()).toContain('Please log in');
    await poll(() => field(page).inputValue()).toBe('milk\n');
  });

  test('ignores a click on a page that has just appeared, but not the second one', async () => {
    await site.add('milk');
    const page = await site.open();
    const toggle = await page.locator('.toggle').boundingBox();
    if (!toggle) throw new Error('the row has no toggle');
    await page.mouse.move(toggle.x + toggle.width / 2, toggle.y + toggle.height / 2);
    await page.reload();
    await page.mouse.down();
    await page.mouse.up();
    await appeared(page);
    expect(await titles(page)).toEqual(['milk']);
    // As in a double click.
    await page.mouse.down({ clickCount: 2 });
    await page.mouse.up({ clickCount: 2 });
    await poll(() => titles(page)).toEqual(['(milk)']);
  });

  test('ignores the second click of a double click if another task has moved under the mouse', async () => {
    await site.add('honey', 'bread', 'milk');
    const page = await openList();
    const lists = { 'Finish: milk': ['bread', 'honey', '(milk)'], 'Delete: bread': ['honey', '(milk)'] };
    for (const [name, shown] of Object.entries(lists)) {
      await page.getByLabel(name).click();
      await poll(() => titles(page)).toEqual(shown);
      // The finished row moves first.
      await poll(() => page.locator('[data-pending]').count()).toBe(0);
      await page.mouse.down({ clickCount: 2 });
      await page.mouse.up({ clickCount: 2 });
    }
    expect(await stored(site)).toEqual(['honey', 'milk']);
  });

  test('gets new tokens if those of the page have expired', async () => {
    const page = await openList();
    await page.keyboard.type('milk');
    await page.context().clearCookies();
    await page.keyboard.press('Enter');
    await poll(() => titles(page)).toEqual(['milk']);
    const messages = { 'Delete: milk': /^\s*Deleted: milk\s+Undo\s*$/, Undo: /^Restored: milk$/ };
    for (const [name, said] of Object.entries(messages)) {
      await page.context().clearCookies();
      await page.getByRole('button', { name }).click();
      await poll(() => notice(page)).toMatch(said);
    }
  });

  test('reports that the browser blocks cookies', async () => {
    const page = await openList();
    await page.route('**/*', (route) =>
      page
        .context()
        .clearCookies()
        .then(() => route.continue()),
    );
    await page.keyboard.type('milk');
    await page.keyboard.press('Enter');
    await poll(() => page.getByRole('alert').textContent()).toContain('your browser blocks cookies');
    expect(await field(page).getAttribute('aria-describedby')).toBe('title-problem');
    expect(await field(page).inputValue()).toContain('milk');
  });

  test('shows hostile titles as text in the list, the field and the notice', async () => {
    const hostile = [
      '<script>alert(1)</script>',
      '"><img src=x onerror=alert(1)>',
      `' onfocus='alert(1)' "`,
      '</textarea></title><b>&lt;',
      '\u202Egnirts desrever',
      'a\u2066b\u2067c',
      '👩‍👩‍👧‍👦 family',
      'zero\u200Bwidth',
      `${'long'.repeat(120)}`,
    ];
    await site.add(...hostile.toReversed());
    const page = await site.open();
    const faults: string[] = [];
    page.on('dialog', (dialog) => faults.push(dialog.message()));
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    await poll(() => titles(page)).toEqual(hostile);
    expect(await page.locator('main :is(img, b, script)').count()).toBe(0);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
    for (const title of hostile.slice(0, 4)) {
      const row = page.locator('.tasks > li').first();
      await row.getByRole('link', { name: 'Edit' }).click();
      await poll(() => row.locator('textarea').inputValue()).toBe(title);
      await page.keyboard.press('Escape');
      await row.getByRole('button', { name: 'Delete' }).click();
      await poll(() => page.locator('#notice bdi').textContent()).toBe(title);
    }
    expect(faults).toEqual([]);
  });

  test('counts open tasks in the tab icon, and shows All done after the last task', async () => {
    await site.add('tea');
    const page = await site.open();
    const icon = async () => {
      const href = (await page.locator('link[rel=icon]').getAttribute('href')) ?? '';
      return (await page.request.get(href)).text();
    };
    expect(await icon()).toContain('>1</text>');
    await page.getByRole('link', { name: 'Finish: tea' }).click();
    await poll(() => page.locator('#count').textContent()).toBe('All done');
    await poll(() => page.title()).toBe('All done · Tasks');
    await poll(icon).toContain('<path');
  });
});

test('The page preloads all scripts, and works without the library', async () => {
  const page = await site.open();
  const named = await page.evaluate<string[]>(
    "[...document.querySelectorAll('script[src], link[rel=modulepreload]')].map(({ outerHTML }) => outerHTML.match(/[\\w.-]+\\.js/)[0])",
  );
  const loaded = await page.evaluate<string[]>(
    "performance.getEntriesByType('resource').map(({ name }) => name.split('/').at(-1)).filter((name) => /js$/.test(name))",
  );
  expect(named.sort()).toEqual([...new Set(loaded)].sort());
  await page.route('**/idiomorph.min.js', (route) => route.abort());
  await page.reload();
  await field(page).fill('milk');
  await field(page).press('Enter');
  await poll(() => titles(page)).toEqual(['milk']);
});

test('The first paint waits for no script, and shares the connection with none', async () => {
  const page = await site.openNew('about:blank');
  const isPainted = Promise.withResolvers<void>();
  await page.route('**/*.js', (route) => isPainted.promise.then(() => route.continue()));
  await page.goto('/', { waitUntil: 'commit' });
  await poll(() => page.evaluate("performance.getEntriesByName('first-contentful-paint').length")).toBe(1);
  isPainted.resolve();
  // Scripts replace the field.
  await page.locator('textarea#title').waitFor();
  // The browser requests what it reads first.
  expect(await page.locator('head :is(script, [rel=modulepreload])').count()).toBe(0);
});

describe('A list pasted into the field', () => {
  test('has a button that fits on phone screens, and Enter adds the tasks in order', async () => {
    await site.add('water');
    const page = await site.open('/', { viewport: { width: 390, height: 450 } });
    await paste(page, 'milk\r\n\nbread\n- [x] tea\n');
    await page.getByRole('button', { name: 'Add 3 tasks' }).waitFor();
    expect(await page.evaluate('scrollY')).toBe(0);
    await page.keyboard.press('Enter');
    await poll(() => titles(page)).toEqual(['milk', 'bread', 'water', '(tea)']);
    await poll(() => notice(page)).toMatch(/^\s*Added 3 tasks\s+Undo\s*$/);
    await poll(() => focused(page)).toBe('title');
    await enter(page, 'honey');
    await poll(() => titles(page)).toEqual(['honey', 'milk', 'bread', 'water', '(tea)']);
  });

  test('needs at least two lines, survives a reload, and can be edited and cancelled', async () => {
    const page = await site.open('/?filter=finished');
    await paste(page, 'milk\n');
    expect(await page.locator('form.lines').count()).toBe(0);
    for (const cancel of [
      () => page.keyboard.press('Escape'),
      () => page.getByRole('link', { name: 'Cancel' }).dblclick(),
    ]) {
      await paste(page, 'milk\nbread');
      await cancel();
      await poll(() => focused(page)).toBe('title');
    }
    await paste(page, 'milk\nbread');
    await page.getByLabel('One task on each line').fill('milk\nbread\ntea');
    await page.reload();
    await page.getByRole('button', { name: 'Add 3 tasks' }).click();
    await page.getByRole('link', { name: 'Show' }).click();
    await poll(() => titles(page)).toEqual(['milk', 'bread', 'tea']);
    expect(await page.evaluate('sessionStorage.getItem("drafts")')).toBe('{}');
  });

  test('is added completely and only once, despite a lost response', async () => {
    // This page does not show the new tasks.
    const page = await site.open('/?filter=finished');
    await loseResponse(page, '**/task?*');
    await paste(page, 'milk\nbread');
    await page.getByRole('button', { name: 'Add 2 tasks' }).click();
    await page.getByText('Added 2 tasks').waitFor();
    expect(await page.locator('form.lines').count()).toBe(0);
    // A page that hears of the new tasks drops their lines.
    await page.evaluate("dispatchEvent(new Event('pagehide'))");
    await loseResponse(page, '**/task?*');
    await paste(page, 'jam\nrice');
    await page.getByRole('button', { name: 'Add 2 tasks' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByRole('button', { name: 'Add 2 tasks' }).click();
    await poll(() => page.locator('form.lines').count()).toBe(0);
    expect(await stored(site)).toEqual(['jam', 'rice', 'milk', 'bread']);
    await paste(page, `tea\n${'x'.repeat(501)}`);
    await page.getByRole('button', { name: 'Add 2 tasks' }).click();
    await poll(() => page.getByRole('alert').textContent()).toMatch(/^Line 2: A title has at most 500/);
    await page.getByLabel('One task on each line').fill('tea\nhoney');
    await page.getByRole('button', { name: 'Add 2 tasks' }).click();
    await poll(() => stored(site)).toEqual(['tea', 'honey', 'jam', 'rice', 'milk', 'bread']);
  });

  test('is removed from the form once the list shows the tasks, even after a lost response', async () => {
    const page = await site.open();
    const held = Promise.withResolvers<void>();
    // The page asks there whether the server has added the tasks.
    const asks = ({ pathname }: URL) => pathname === '/' || pathname === '/tasks/partial';
    await page.route(asks, (route) => held.promise.then(() => route.continue()));
    await loseResponse(page, '**/task');
    await paste(page, 'milk\n\n- [ ] bread');
    await page.getByRole('button', { name: 'Add 2 tasks' }).click();
    await page.getByRole('alert').waitFor();
    const area = page.getByLabel('One task on each line');
    await area.pressSequentially('green ');
    held.resolve();
    await poll(() => area.inputValue()).toBe('green ');
    await page.keyboard.type('tea');
    await page.getByRole('button', { name: 'Add 1 task' }).click();
    await poll(() => titles(page)).toEqual(['green tea', 'milk', 'bread']);
  });
});
