import { hasTextBrowser, readInTextBrowser } from '@longhand/shared/testing/text-browser.ts';
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
      /2 open, 0 finished[\s\S]*bread[\s\S]*milk/,
    );
    expect(await w3m.show('/task/2/finish')).toMatch(/1 open, 1 finished[\s\S]*Reopen/);
    await w3m.submit('/tasks/1/edit', 'Save', { title: 'oat milk' });
    expect(await titles()).toEqual(['oat milk', '(bread)']);
    expect(await w3m.submit('/tasks/1/edit', 'Delete')).toMatch(/Deleted: oat milk\s+Undo/);
    expect(await titles()).toEqual(['(bread)']);
  });

  test('a deletion is undone', async () => {
    const w3m = await open();
    await kept.store.destroy('1', 'gone');
    expect(await w3m.submit('/?removal=gone', 'Undo')).toContain('1 open');
    expect(await titles()).toEqual(['milk']);
  });

  test('the finished tasks are cleared', async () => {
    const w3m = await open();
    await kept.store.update('1', { finished: 1 }, new Date());
    expect(await w3m.submit('/', 'Clear finished')).toMatch(/Deleted: milk\s+Undo/);
    expect(await titles()).toEqual([]);
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

  test('the page reads from top to bottom', async () => {
    const text = await readInTextBrowser('lynx', service.url);
    expect(text).toMatch(
      /^Tasks What needs to be done\? .*1 open, 0 finished All Open Finished .*Finish milk added/,
    );
  });
});
