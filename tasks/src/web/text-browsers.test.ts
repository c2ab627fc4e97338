import { hasTextBrowser, readInTextBrowser } from '@longhand/shared/testing/text-browser.ts';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { testKey } from '../../testing/app.ts';
import { press, pressInLynx } from '../../testing/lynx.ts';
import { startReplica, useReplica } from '../../testing/replica.ts';
import { auth } from './auth.ts';

const kept = useReplica();
beforeEach(async () => void (await kept.store.create({ title: 'milk' }, new Date())));

const titles = async () =>
  (await kept.store.list({ filter: 'all' })).tasks.map(({ title, finished }) =>
    finished ? `(${title})` : title,
  );

test.for(['w3m', 'lynx'] as const)('In %s the page reads from top to bottom', async (browser, context) => {
  context.skip(!(await hasTextBrowser(browser)), `needs ${browser}`);
  expect(await readInTextBrowser(browser, kept.service.url)).toMatch(
    /^Tasks What needs to be done\? .*1 open, 0 finished .*All Open Finished .*Finish milk/,
  );
});

describe('In lynx', () => {
  beforeEach(async (context) => {
    context.skip(!(await hasTextBrowser('lynx')), 'needs lynx');
  });

  test.each<[string, string[], string[]]>([
    ['a task is added by the button behind the field', [...'tea', '^I', '^J'], ['tea', 'milk']],
    ['a task is finished', press('Finish milk'), ['(milk)']],
    ['the list after Finish reopens it', [...press('Finish milk'), ...press('Reopen')], ['milk']],
    ['a task is deleted on its page', [...press('Edit'), ...press('Delete')], []],
    ['the list after that offers Undo', [...press('Edit'), ...press('Delete'), ...press('Undo')], ['milk']],
    ['finished tasks are cleared', [...press('Finish milk'), ...press('Clear finished')], []],
  ])('%s', async (_what, keys, after) => {
    await pressInLynx(kept.service.url, keys);
    expect(await titles()).toEqual(after);
  });

  test('what was deleted is restored from its page', async () => {
    await kept.store.destroy('1', 'gone');
    await pressInLynx(kept.service.url, [...press('Recently'), ...press('Restore')]);
    expect(await titles()).toEqual(['milk']);
  });

  test('a list with a password asks for it, and then takes a task', async () => {
    const locked = await startReplica(kept.url, { auth: auth('sesame', testKey) });
    onTestFinished(() => void locked.stop());
    await pressInLynx(locked.url, [...'sesame', '^I', '^J', ...'tea', '^I', '^J']);
    expect(await titles()).toEqual(['tea', 'milk']);
  });
});
