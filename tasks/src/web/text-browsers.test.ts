import { hasTextBrowser, readInTextBrowser } from '@longhand/shared/testing/text-browser.ts';
import { textFile } from '@longhand/shared/testing/text-file.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type Service, startService } from '../../testing/service.ts';
import { startStore } from '../../testing/store.ts';
import { openW3m, press, pressInLynx } from '../../testing/text-browsers.ts';

let kept: Awaited<ReturnType<typeof startStore>>;
let service: Service;
beforeAll(async () => {
  kept = await startStore();
  service = await startService({ REDIS_URL: kept.url });
});
beforeEach(async () => {
  await kept.empty();
  await kept.store.create({ title: 'milk' }, new Date());
});
afterAll(async () => {
  await service.end('SIGKILL');
  await kept.stop();
});

const titles = async () =>
  (await kept.store.list({ filter: 'all' })).tasks.map(({ title, finished }) =>
    finished ? `(${title})` : title,
  );

describe('In w3m', () => {
  beforeEach(async (context) => {
    context.skip(!(await hasTextBrowser('w3m')), 'needs w3m');
  });
  const open = async () => {
    const w3m = await openW3m(service.url);
    onTestFinished(() => w3m.close());
    return w3m;
  };

  test('a task is added, finished, edited, deleted and restored', async () => {
    const w3m = await open();
    expect(await w3m.submit('/', 'Add', { title: 'bread' })).toMatch(
      /2 to do, 0 done[\s\S]*bread[\s\S]*milk/,
    );
    expect(await w3m.show('/task/2/finish')).toMatch(/1 to do, 1 done[\s\S]*Reopen/);
    await w3m.submit('/tasks/1/edit', 'Save', { title: 'oat milk' });
    expect(await titles()).toEqual(['oat milk', '(bread)']);
    expect(await w3m.submit('/tasks/1/edit', 'Delete')).toMatch(/Deleted: oat milk\s+Undo/);
    expect(await titles()).toEqual(['(bread)']);
  });

  test('a part of the list is led back to, and a task that is added elsewhere is said', async () => {
    const w3m = await open();
    expect(await w3m.show('/task/1/finish?filter=open')).toMatch(/All done[\s\S]*What comes next/);
    const added = await w3m.submit('/?filter=finished', 'Add', { title: 'bread' });
    expect(added).toMatch(/Added: bread\s+Show[\s\S]*1 to do, 1 done/);
  });

  test('a list is imported in its order', async () => {
    const w3m = await open();
    expect(await w3m.show('/tasks/import')).toMatch(/paste a list[\s\S]*- \[x\][\s\S]*A file/);
    expect(await w3m.submit('/tasks/import', 'Import', { text: 'bread\ntea' })).toContain(
      '2 tasks imported.',
    );
    expect(await titles()).toEqual(['bread', 'tea', 'milk']);
  });

  test('a deletion is undone', async () => {
    const w3m = await open();
    await kept.store.destroy('1', 'gone');
    expect(await w3m.submit('/?removal=gone', 'Undo')).toContain('1 to do');
    expect(await titles()).toEqual(['milk']);
  });

  test('what was deleted is restored from its page', async () => {
    const w3m = await open();
    await kept.store.destroy('1', 'gone');
    expect(await w3m.show('/tasks/removals')).toMatch(/Recently deleted[\s\S]*milk[\s\S]*Restore/);
    const restored = await w3m.submit('/tasks/removals', 'Restore', { removal: 'gone' });
    expect(restored).toContain('Restored 1 task.');
    expect(await titles()).toEqual(['milk']);
  });

  test('the finished tasks are cleared', async () => {
    const w3m = await open();
    await kept.store.update('1', { finished: 1 }, new Date());
    expect(await w3m.submit('/', 'Clear finished')).toMatch(/Deleted: milk\s+Undo/);
    expect(await titles()).toEqual([]);
  });
});

describe('A list with a password', () => {
  let guarded: Service;
  beforeAll(async () => {
    guarded = await startService({ REDIS_URL: kept.url, TASKS_PASSWORD_FILE: textFile('sesame') });
  });
  afterAll(() => guarded.end('SIGKILL'));

  test('asks for it in w3m, and shows the tasks', async (context) => {
    context.skip(!(await hasTextBrowser('w3m')), 'needs w3m');
    const w3m = await openW3m(guarded.url);
    onTestFinished(() => w3m.close());
    expect(await w3m.show('/')).toMatch(/Tasks\s+Password\s+\[ +\] Log in/);
    expect(await w3m.submit('/login', 'Log in', { password: 'wrong' })).toContain(
      'This is not the password.',
    );
    expect(await w3m.submit('/login', 'Log in', { password: 'sesame' })).toMatch(/1 to do[\s\S]*milk/);
  });

  test('asks for it in lynx, and adds a task', async (context) => {
    context.skip(!(await hasTextBrowser('lynx')), 'needs lynx');
    await pressInLynx(guarded.url, [...'sesame', '^I', '^J', ...'tea', '^I', '^J']);
    expect(await titles()).toEqual(['tea', 'milk']);
  });
});

describe('In lynx', () => {
  beforeEach(async (context) => {
    context.skip(!(await hasTextBrowser('lynx')), 'needs lynx');
  });
  test('a task is added by the button behind the field', async () => {
    await pressInLynx(service.url, [...'tea', '^I', '^J']);
    expect(await titles()).toEqual(['tea', 'milk']);
  });

  test('the list after Finish shows the finished task, which can be reopened there', async () => {
    await pressInLynx(service.url, press('Finish milk'));
    expect(await titles()).toEqual(['(milk)']);
    await kept.store.update('1', { finished: 0 }, new Date());
    await pressInLynx(service.url, [...press('Finish milk'), ...press('Reopen')]);
    expect(await titles()).toEqual(['milk']);
  });

  test('a task is deleted on its page, and the list offers Undo', async () => {
    await pressInLynx(service.url, [...press('Edit'), ...press('Delete')]);
    expect(await titles()).toEqual([]);
    await kept.empty();
    await kept.store.create({ title: 'milk' }, new Date());
    await pressInLynx(service.url, [...press('Edit'), ...press('Delete'), ...press('Undo')]);
    expect(await titles()).toEqual(['milk']);
    expect((await kept.redis.zcard('{tasks}:removed')) === 0).toBe(true);
  });

  test('the finished tasks are cleared', async () => {
    await kept.store.update('1', { finished: 1 }, new Date());
    await pressInLynx(service.url, press('Clear finished'));
    expect(await titles()).toEqual([]);
  });

  test('what was deleted is restored from its page', async () => {
    await kept.store.destroy('1', 'gone');
    await pressInLynx(service.url, [...press('Recently'), ...press('Restore')]);
    expect(await titles()).toEqual(['milk']);
  });

  test('the page reads from top to bottom', async () => {
    const text = await readInTextBrowser('lynx', service.url);
    expect(text).toMatch(
      /^Tasks What needs to be done\? .*1 to do, 0 done All Open Finished .*Finish milk added/,
    );
  });
});
