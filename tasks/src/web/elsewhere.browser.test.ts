import { createServer } from 'node:http';
import { sharedChromium } from '@longhand/shared/testing/chromium.ts';
import { listening } from '@longhand/shared/testing/listening.ts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { poll } from '../../testing/browser.ts';
import { useReplica } from '../../testing/replica.ts';

/** The list under a name in a local network, without TLS: browsers send no `Sec-Fetch-Site` there. */
let list: string;
/** The address of another site's page that holds `markup`. */
let elsewhere: (markup: string) => string;

const kept = useReplica();
const browser = await sharedChromium();
const stranger = createServer(({ url = '' }, response) => {
  response.setHeader('Content-Type', 'text/html').end(decodeURIComponent(url.slice(1)));
});

beforeAll(async () => {
  list = kept.service.url.replace('127.0.0.1', 'tasks.local');
  const port = await listening(stranger);
  elsewhere = (markup) => `http://attacker.test:${port}/${encodeURIComponent(markup)}`;
});
beforeEach(async () => {
  kept.service.log.splice(0);
  await kept.store.create({ title: 'milk' }, new Date());
});
afterAll(() => stranger.close());

/** The statuses that the link to finish the task was answered with. */
const answers = () =>
  kept.service.log.flatMap(({ path, status }) => (path === '/task/1/finish' ? [status] : []));

test.each([
  ['image', (link: string) => `<img src="${link}">`],
  ['image that says nothing', (link: string) => `<img referrerpolicy=no-referrer src="${link}">`],
  [
    'page that leads on and says nothing',
    (link: string) =>
      `<meta name=referrer content=no-referrer><script>location = ${JSON.stringify(link)}</script>`,
  ],
])("another site's %s finishes nothing", async (_, markup) => {
  const page = await browser.newPage();
  await page.goto(list);
  // One of them leads on before it is loaded.
  await page.goto(elsewhere(markup(`${list}task/1/finish`)), { waitUntil: 'commit' });
  await poll(answers).toEqual([403]);
  expect((await kept.store.show('1')).finished).toBe(0);
  await page.close();
});

test.each([true, false])('a task is finished in the list (JavaScript: %s)', async (javaScriptEnabled) => {
  const page = await browser.newPage({ javaScriptEnabled });
  await page.goto(list);
  await page.getByRole('link', { name: 'Finish: milk' }).click();
  await page.locator('.finished', { hasText: 'milk' }).waitFor();
  await page.close();
});
