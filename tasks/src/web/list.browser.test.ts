import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { field, focused, poll, titles, useBrowser } from '../../testing/browser.ts';

const site = useBrowser();

const notice = '#notice';

/** Opens the list and marks the page, so that it shows whether another one took its place. */
async function openList(...options: Parameters<typeof site.open>) {
  const page = await site.open(...options);
  await page.evaluate('window.stayed = true');
  return page;
}
const stayed = (page: Awaited<ReturnType<typeof openList>>) => page.evaluate('window.stayed');

describe('The list page with JavaScript', () => {
  test('has the focus in its one field, and Enter adds what is typed there', async () => {
    const page = await openList();
    await page.keyboard.type('milk');
    await page.keyboard.press('Enter');
    await poll(() => titles(page)).toEqual(['milk']);
    await page.keyboard.type('bread');
    await page.keyboard.press('Enter');
    await poll(() => titles(page)).toEqual(['bread', 'milk']);
    await poll(() => field(page).inputValue()).toBe('');
    await poll(() => focused(page)).toBe('title');
    await poll(() => page.locator(notice).textContent()).toBe('Added: bread');
    await poll(() => page.title()).toBe('2 to do · Tasks');
    await poll(() => stayed(page)).toBe(true);
  });

  test('adds the same title twice where it is typed twice', async () => {
    const page = await openList();
    for (const added of [['milk'], ['milk', 'milk']]) {
      await page.keyboard.type('milk');
      await page.keyboard.press('Enter');
      await poll(() => titles(page)).toEqual(added);
    }
  });

  test('keeps what is typed on while a task is being added', async () => {
    const page = await openList();
    const held = Promise.withResolvers<void>();
    await page.route('**/task', (route) => held.promise.then(() => route.continue()));
    await page.keyboard.type('milk');
    await page.keyboard.press('Enter');
    await page.keyboard.type('bread');
    held.resolve();
    await poll(() => titles(page)).toEqual(['milk']);
    await poll(() => field(page).inputValue()).toBe('bread');
  });

  test('finishes and reopens a task in place, and says so', async () => {
    await site.add('milk', 'bread');
    const page = await openList();
    await page.getByRole('link', { name: 'Finish: bread' }).click();
    await poll(() => titles(page)).toEqual(['milk', '(bread)']);
    await poll(() => page.locator(notice).textContent()).toBe('Finished: bread');
    await poll(() => page.locator('#count').textContent()).toBe('1 to do, 1 done');
    await page.getByRole('link', { name: 'Reopen: bread' }).click();
    await poll(() => titles(page)).toEqual(['bread', 'milk']);
    await poll(() => page.locator(notice).textContent()).toBe('Reopened: bread');
    await poll(() => stayed(page)).toBe(true);
  });

  test('gives the focus to the task that takes the place of a finished one, without scrolling', async () => {
    await site.add(...Array.from({ length: 60 }, (_, i) => `task ${i + 1}`));
    const page = await openList();
    await page.getByRole('link', { name: 'Finish: task 30', exact: true }).focus();
    const scrolled = await page.evaluate('scrollY');
    expect(scrolled).toBeGreaterThan(0);
    await page.keyboard.press('Enter');
    await poll(() => focused(page)).toBe('task-29');
    await poll(() => page.evaluate('scrollY')).toBe(scrolled);
    await page.keyboard.press('Tab');
    await poll(() => page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe(
      'Finish: task 29',
    );
  });

  test('edits a task in its place', async () => {
    await site.add('milk', 'bread');
    const page = await openList();
    await page.getByRole('link', { name: 'Edit: milk' }).click();
    await poll(() => focused(page)).toBe('title-1');
    await page.keyboard.type(' and honey');
    await page.keyboard.press('Enter');
    await poll(() => titles(page)).toEqual(['bread', 'milk and honey']);
    await poll(() => page.locator(notice).textContent()).toBe('Saved: milk and honey');
    await poll(() => page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe(
      'Edit: milk and honey',
    );
    await poll(() => stayed(page)).toBe(true);
  });

  test('Escape and Cancel leave a task as it was', async () => {
    await site.add('milk');
    const page = await openList();
    for (const leave of [() => page.keyboard.press('Escape'), () => page.getByText('Cancel').click()]) {
      await page.getByRole('link', { name: 'Edit: milk' }).click();
      await poll(() => focused(page)).toBe('title-1');
      await page.keyboard.type('x');
      await leave();
      await poll(() => titles(page)).toEqual(['milk']);
    }
    expect((await site.store.show('1')).title).toBe('milk');
  });

  test('an edit of a task that somebody else changed shows its title, keeps the text, and can be resent', async () => {
    await site.add('milk');
    const page = await openList();
    await page.getByRole('link', { name: 'Edit: milk' }).click();
    await poll(() => focused(page)).toBe('title-1');
    await site.store.update('1', { title: 'oat milk' }, new Date());
    await page.keyboard.type(' and honey');
    await page.keyboard.press('Enter');
    await poll(() => page.locator('.editing .problem').textContent()).toContain('oat milk');
    await poll(() => page.locator('#title-1').inputValue()).toBe('milk and honey');
    await page.keyboard.press('Enter');
    await poll(() => titles(page)).toEqual(['milk and honey']);
  });

  test('deletes a task without asking, and Undo brings it back', async () => {
    await site.add('milk', 'bread', 'tea');
    await site.store.update('2', { finished: 1 }, new Date());
    const page = await openList();
    await page.getByRole('button', { name: 'Delete: bread' }).click();
    await poll(() => titles(page)).toEqual(['tea', 'milk']);
    await poll(() => page.locator(notice).textContent()).toMatch(/^\s*Deleted: bread\s+Undo\s*$/);
    await page.getByRole('button', { name: 'Undo' }).click();
    await poll(() => titles(page)).toEqual(['tea', 'milk', '(bread)']);
    await poll(() => page.locator(notice).textContent()).toBe('Restored: bread');
    await poll(() => focused(page)).toBe('title');
    await poll(() => stayed(page)).toBe(true);
  });

  test('a deletion that Redis carries out too late can be undone all the same', async () => {
    await site.add('milk', 'bread');
    const page = await openList();
    const redis = new Redis(site.redisUrl);
    // The script waits for longer than the service does, and is carried out then.
    await redis.call('CLIENT', 'PAUSE', '60000', 'WRITE');
    await page.getByRole('button', { name: 'Delete: milk' }).click();
    await poll(() => page.locator(notice).textContent()).toMatch(
      /cannot be reached.* Recently deleted Close$/,
    );
    await redis.call('CLIENT', 'UNPAUSE');
    await poll(async () => (await site.store.list({ filter: 'all' })).open).toBe(1);
    redis.disconnect();
    await page.getByRole('status').getByRole('link', { name: 'Recently deleted' }).click();
    await page.getByRole('button', { name: 'Restore: milk' }).click();
    await page.getByRole('link', { name: 'All tasks' }).click();
    await poll(() => titles(page)).toEqual(['bread', 'milk']);
  });

  test('clears the finished tasks, and Undo brings them back', async () => {
    await site.add('milk', 'bread', 'tea');
    for (const id of ['1', '2']) await site.store.update(id, { finished: 1 }, new Date());
    const page = await openList();
    await page.getByRole('button', { name: 'Clear finished' }).click();
    await poll(() => titles(page)).toEqual(['tea']);
    await poll(() => page.locator(notice).textContent()).toMatch(/^\s*Deleted 2 tasks\s+Undo\s*$/);
    // Not the field, where Ctrl+Z would be the browser's.
    await poll(() => focused(page)).toBe('task-3');
    await poll(() => page.getByRole('button', { name: 'Clear finished' }).isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Undo' }).click();
    await poll(() => titles(page)).toEqual(['tea', '(bread)', '(milk)']);
  });

  test('a half-typed task is there after a reload, and after Import and Back, in this tab only', async () => {
    const page = await openList();
    await page.keyboard.type('half a ta');
    await page.reload();
    await poll(() => field(page).inputValue()).toBe('half a ta');
    await page.keyboard.press('End');
    await page.keyboard.type('sk');
    await page.getByRole('link', { name: 'Import' }).click();
    await poll(() => page.locator('h1').textContent()).toBe('Import tasks');
    await page.goBack();
    await poll(() => field(page).inputValue()).toBe('half a task');
    const other = await page.context().newPage();
    await other.goto('/');
    await poll(() => field(other).inputValue()).toBe('');
  });

  test('half-typed edits are there after a reload, and a change since is not overwritten unseen', async () => {
    await site.add('milk', 'bread');
    const page = await openList();
    for (const [title, id] of [
      ['milk', 1],
      ['bread', 2],
    ] as const) {
      await page.getByRole('link', { name: `Edit: ${title}` }).click();
      await poll(() => focused(page)).toBe(`title-${id}`);
      await page.keyboard.type(', two');
    }
    await page.reload();
    await poll(() => page.locator('#title-1').inputValue()).toBe('milk, two');
    await poll(() => page.locator('#title-2').inputValue()).toBe('bread, two');
    await page.locator('#title-1').press('Enter');
    await poll(() => page.locator(notice).textContent()).toBe('Saved: milk, two');
    await site.store.update('2', { title: 'rye bread' }, new Date());
    await page.reload();
    await poll(() => page.locator('#title-2').inputValue()).toBe('bread, two');
    expect(await page.locator('#title-1').count()).toBe(0);
    await page.locator('#title-2').press('Enter');
    await poll(() => page.locator('.editing .problem').textContent()).toBe(
      'Somebody else changed this task. It now reads “rye bread”. Save replaces that with your text.',
    );
    await page.locator('#title-2').press('Escape');
    await poll(() => titles(page)).toEqual(['rye bread', 'milk, two']);
    await page.reload();
    await poll(() => titles(page)).toEqual(['rye bread', 'milk, two']);
  });

  test('a task that was saved is not typed again after a reload, but what was typed since is', async () => {
    const page = await openList();
    await page.keyboard.type('milk');
    await page.keyboard.press('Enter');
    await poll(() => titles(page)).toEqual(['milk']);
    await page.reload();
    await poll(() => field(page).inputValue()).toBe('');
    await field(page).fill('bread');
    await page.keyboard.press('Enter');
    await page.keyboard.type(' and butter');
    await poll(() => titles(page)).toEqual(['bread', 'milk']);
    const rest = await field(page).inputValue();
    await page.reload();
    await poll(() => field(page).inputValue()).toBe(rest);
  });

  test('shows all, open or finished tasks at addresses of their own, and keeps what is typed', async () => {
    await site.add('milk', 'bread');
    await site.store.update('1', { finished: 1 }, new Date());
    const page = await openList();
    await page.keyboard.type('half a th');
    for (const [name, shown] of [
      ['Open', ['bread']],
      ['Finished', ['(milk)']],
    ] as const) {
      await page.getByRole('link', { name, exact: true }).click();
      await poll(() => titles(page)).toEqual(shown);
      await poll(() => page.locator('[aria-current=page]').textContent()).toBe(name);
    }
    expect(new URL(page.url()).search).toBe('?filter=finished');
    await page.goBack();
    await poll(() => titles(page)).toEqual(['bread']);
    await page.goBack();
    await poll(() => titles(page)).toEqual(['bread', '(milk)']);
    await poll(() => field(page).inputValue()).toBe('half a th');
    await poll(() => stayed(page)).toBe(true);
  });

  test('a task that is finished where only open ones are shown leaves the list', async () => {
    await site.add('milk', 'bread');
    const page = await openList('/?filter=open');
    await page.getByRole('link', { name: 'Finish: bread' }).click();
    await poll(() => titles(page)).toEqual(['milk']);
    await page.getByRole('link', { name: 'Finish: milk' }).click();
    await poll(() => page.locator('.empty').textContent()).toContain('All done');
    expect(new URL(page.url()).search).toBe('?filter=open');
  });

  test('leads through the pages of a long list', async () => {
    await site.add(...Array.from({ length: 101 }, (_, i) => `task ${i + 1}`));
    const page = await openList();
    await page.getByRole('link', { name: 'Next' }).press('Enter');
    await poll(() => titles(page)).toEqual(['task 1']);
    await poll(() => focused(page)).toBe('task-1');
    await page.goBack();
    await poll(async () => (await titles(page)).length).toBe(100);
  });
});

describe('What goes wrong with JavaScript', () => {
  test('a refused title stays in the field, which says why beside it and has the focus', async () => {
    const page = await openList();
    const long = 'x'.repeat(501);
    await field(page).fill(long);
    await page.keyboard.press('Enter');
    await poll(() => page.getByRole('alert').textContent()).toContain('at most 500 characters');
    await poll(() => field(page).inputValue()).toBe(long);
    await poll(() => field(page).getAttribute('aria-invalid')).toBe('true');
    const description = await field(page).getAttribute('aria-describedby');
    await poll(() => page.locator(`[id="${description}"]`).textContent()).toContain('at most 500');
    await poll(() => focused(page)).toBe('title');
    await page.keyboard.press('Backspace');
    await poll(() => page.getByRole('alert').count()).toBe(0);
    await page.keyboard.press('Enter');
    await poll(() => titles(page)).toEqual(['x'.repeat(500)]);
  });

  test('without a connection the text stays, and is sent once the connection is back', async () => {
    const page = await openList();
    await page.keyboard.type('milk');
    await page.context().setOffline(true);
    await page.keyboard.press('Enter');
    await poll(() => page.getByRole('alert').textContent()).toBe('Not saved: no connection.');
    await poll(() => field(page).inputValue()).toBe('milk');
    await page.context().setOffline(false);
    await page.keyboard.press('Enter');
    await poll(() => titles(page)).toEqual(['milk']);
  });

  test('a page of somebody else’s that answers in our place is not taken for a success', async () => {
    const page = await openList();
    await page.route('**/task', (route) =>
      route.fulfill({ contentType: 'text/html', body: '<h1>Welcome to the hotel. Please log in.</h1>' }),
    );
    await page.keyboard.type('milk');
    await page.keyboard.press('Enter');
    await poll(() => page.getByRole('alert').textContent()).toContain('Please log in');
    await poll(() => field(page).inputValue()).toBe('milk');
  });

  test('an answer that was lost and a second attempt make one task', async () => {
    const page = await openList();
    await page.route('**/task', (route) => route.fetch({ maxRedirects: 0 }).then(() => route.abort()), {
      times: 1,
    });
    const failed = page.waitForEvent('requestfailed', (request) => request.method() === 'POST');
    await page.keyboard.type('milk');
    await page.keyboard.press('Enter');
    // The page may send it again by itself, once it hears that the list has changed.
    await failed;
    await page.keyboard.press('Enter');
    await poll(() => field(page).inputValue()).toBe('');
    await poll(() => titles(page)).toEqual(['milk']);
  });

  test('a double click sends a form once', async () => {
    await site.add('bread');
    const page = await openList();
    const sent: string[] = [];
    page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()));
    await page.keyboard.type('milk');
    await page.getByRole('button', { name: 'Add' }).dblclick();
    await poll(() => titles(page)).toEqual(['milk', 'bread']);
    await poll(() => field(page).inputValue()).toBe('');
    await page.getByRole('button', { name: 'Delete: milk' }).dblclick();
    await poll(() => page.locator(notice).textContent()).toContain('Deleted: milk');
    await poll(() => titles(page)).toEqual(['bread']);
    expect(sent.map((url) => new URL(url).pathname)).toEqual(['/task', '/tasks/2']);
  });

  test.each([
    ['Finish', ['bread', '(milk)']],
    ['Delete', ['bread']],
  ])(
    'the second click of a double click leaves the task alone that has moved under it (%s)',
    async (what, shown) => {
      await site.add('bread', 'milk');
      const page = await openList();
      const control = page.getByLabel(`${what}: milk`);
      await control.hover();
      const { x = 0, y = 0, width = 0, height = 0 } = (await control.boundingBox()) ?? {};
      await page.mouse.click(x + width / 2, y + height / 2);
      await poll(() => titles(page)).toEqual(shown);
      await page.mouse.down({ clickCount: 2 });
      await page.mouse.up({ clickCount: 2 });
      await field(page).fill('tea');
      await field(page).press('Enter');
      await poll(() => titles(page)).toEqual(['tea', ...shown]);
    },
  );

  test('with the store away it says so in words, keeps the text, and goes on when the store is back', async () => {
    await site.add('bread');
    const page = await openList();
    await page.keyboard.type('milk');
    await site.withoutStore(async () => {
      await page.keyboard.press('Enter');
      await poll(() => page.getByRole('alert').textContent()).toContain('try again');
      await page.getByRole('link', { name: 'Finish: bread' }).click();
      await poll(() => page.locator(notice).textContent()).toContain('try again');
      await poll(() => field(page).inputValue()).toBe('milk');
    });
    await field(page).press('Enter');
    await poll(() => titles(page)).toEqual(['milk', 'bread']);
  });

  test('what expired with the session is renewed and sent again, unseen: a form and a button', async () => {
    const page = await openList();
    await page.keyboard.type('milk');
    await page.context().clearCookies();
    await page.keyboard.press('Enter');
    await poll(() => titles(page)).toEqual(['milk']);
    await poll(() => page.locator(notice).textContent()).toBe('Added: milk');
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Delete: milk' }).click();
    await poll(() => page.locator(notice).textContent()).toMatch(/^\s*Deleted: milk\s+Undo\s*$/);
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Undo' }).click();
    await poll(() => page.locator(notice).textContent()).toBe('Restored: milk');
  });

  test('finishing a task that is gone says so and shows the list as it is', async () => {
    await site.add('milk', 'bread');
    const page = await openList();
    await page.route('**/task/1/finish', async (route) => {
      await site.store.destroy('1', 'a-removal');
      await route.continue();
    });
    await page.getByRole('link', { name: 'Finish: milk' }).click();
    await poll(() => page.locator(notice).textContent()).toContain('Somebody deleted this task');
    await poll(() => titles(page)).toEqual(['bread']);
  });
});

describe('Titles', () => {
  const hostile = [
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    `' onfocus='alert(1)' "`,
    '</textarea></title><b>&lt;',
    '\u202Egnirts desrever',
    'a\u2066b\u2067c',
    '👩‍👩‍👧‍👦 family',
    'zero\u200Bwidth',
    'مرحبا (milk)',
    `${'long'.repeat(120)}`,
  ];

  test.each(hostile)(
    '%j comes out as the text it is, in the list, the field and the notice',
    async (title) => {
      await site.add(title);
      const page = await openList();
      const faults: string[] = [];
      page.on('dialog', (dialog) => faults.push(dialog.message()));
      page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
      await poll(() => titles(page)).toEqual([title]);
      await poll(() => page.evaluate("getComputedStyle(document.querySelector('.title')).unicodeBidi")).toBe(
        'isolate',
      );
      await poll(() => page.locator('main :is(img, b, script)').count()).toBe(0);
      await poll(() =>
        page.evaluate('document.documentElement.scrollWidth - innerWidth'),
      ).toBeLessThanOrEqual(0);
      await page.getByRole('link', { name: 'Edit' }).click();
      await poll(() => page.locator('#title-1').inputValue()).toBe(title);
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Delete' }).click();
      await poll(() => page.locator(`${notice} bdi`).textContent()).toBe(title);
      expect(faults).toEqual([]);
    },
  );
});

test('Times are in the zone of the reader, with the exact time on hover', async () => {
  await site.store.create({ title: 'milk' }, new Date('2024-02-29T23:30:15.678Z'));
  const page = await openList('/', { timezoneId: 'Asia/Tokyo', locale: 'en-GB' });
  const time = page.locator('time');
  await poll(() => time.textContent()).toBe('Mar 2024');
  await poll(() => time.getAttribute('title')).toMatch(/^added Friday,? 1 March 2024 at 08:30:15 /);
  await poll(() => time.getAttribute('datetime')).toBe('2024-02-29T23:30:15.678Z');
});

test('The links that change a task ask not to be followed, and nothing asks for a prefetch', async () => {
  await site.add('milk');
  const page = await openList();
  await poll(() => page.locator('a[href^="/task/"]:not([rel~=nofollow])').count()).toBe(0);
  const asking = 'script[type=speculationrules], link:is([rel~=prefetch], [rel~=prerender])';
  await poll(() => page.locator(asking).count()).toBe(0);
});
