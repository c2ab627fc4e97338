import { afterAll, expect } from 'vitest';
import { scriptedApp, to, type Web } from '../../testing/scripted-web.ts';
import { startVisits } from '../../testing/visit.ts';

const imitation = 'https://dhl.com.paket-zustellung.top/';
const web: Web = {
  'http://bit.ly/news': to('https://news.example/a'),
  'https://news.example/a': { title: 'A record low' },
  [imitation]: {},
};
const visits = await startVisits(scriptedApp(web));
afterAll(() => visits.close());

const message = 'See http://bit.ly/news and http://tinyurl.com/dhl now';
const clipboard = { permissions: ['clipboard-read', 'clipboard-write'] };
const short = '[data-rank] .url';

visits.test(
  'rows stream while other links are checked, and the worst comes first at the end',
  clipboard,
  async (page) => {
    const slow = Promise.withResolvers<object>();
    web['http://tinyurl.com/dhl'] = slow.promise;
    await page.goto(visits.origin);
    await page.getByLabel('Link, or the whole message').fill(message);
    await page.keyboard.press('Enter');
    await expect
      .poll(() =>
        page
          .locator(short)
          .allTextContents()
          .catch(() => []),
      )
      .toHaveLength(1);
    const waiting = await page.evaluate(
      "getComputedStyle(document.querySelector('#expansion'), '::before').content",
    );
    expect(waiting).toBe('"2 links. Checking …"');
    slow.resolve(to(imitation));
    await page.getByRole('heading', { name: 'Beware of 1 of 2 links.' }).waitFor();
    await expect
      .poll(async () => (await page.locator(short).allTextContents()).map((each) => each.trim()))
      .toEqual(['http://tinyurl.com/dhl', 'http://bit.ly/news']);
    await page.getByRole('button', { name: 'Copy the message with long links' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      'See https://news.example/a and http://tinyurl.com/dhl now',
    );
    await page.getByText('This is not DHL').click();
    await page.getByRole('heading', { name: 'This is not DHL. It leads to paket-zustellung.top' }).waitFor();
  },
);

visits.test('without JavaScript, the rows stay in order', { javaScriptEnabled: false }, async (page) => {
  web['http://tinyurl.com/dhl'] = to(imitation);
  await page.goto(visits.address(message));
  const rows = await page.locator(short).allTextContents();
  expect(rows.map((each) => each.trim())).toEqual(['http://bit.ly/news', 'http://tinyurl.com/dhl']);
  expect(await page.getByRole('heading', { name: 'Beware of 1 of 2 links.' }).isVisible()).toBe(true);
});
