import { hasTextBrowser, readInTextBrowser } from '@longhand/shared/testing/text-browser.ts';
import { expect, test } from 'vitest';
import { useReplica } from '../../testing/replica.ts';

const kept = useReplica();

test.for(['w3m', 'lynx'] as const)('In %s the page reads from top to bottom', async (browser, context) => {
  context.skip(!(await hasTextBrowser(browser)), `needs ${browser}`);
  await kept.store.create({ title: 'milk' }, new Date());
  expect(await readInTextBrowser(browser, kept.service.url)).toMatch(
    /^Tasks What needs to be done\? .*1 open, 0 finished .*All Open Finished .*Finish milk/,
  );
});
