import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { serve } from '@longhand/shared/serve.ts';
import { launchChromium } from '@longhand/shared/testing/chromium.ts';
import { startTemporaryStack } from '../deploy/testing/temporary-stack.ts';
import { scriptedApp, to } from '../expander/testing/scripted-web.ts';

/** `make screenshots` takes the README's pictures: an expansion of scripted websites, and a real task list. */
const shortUrl = 'https://sho.rt/walk';
const campaign = 'https://news.example/r/48113?to=walk';
const article = 'https://www.example.org/guides/a-walk-along-the-river';
/** The websites have realistic latencies. */
const web = {
  get [shortUrl]() {
    return after(38, to(campaign));
  },
  get [campaign]() {
    return after(61, to(article, 302));
  },
  get [article]() {
    return after(112, { title: 'A walk along the river' });
  },
};

const day = (days: number) => new Date(Date.UTC(2026, 3, 20 + days, 9, 30)).toISOString();
const tasks = [
  { title: 'Renew the library card', finished: 1, created_at: day(0), updated_at: day(1) },
  { title: 'Book the train to Leipzig', finished: 1, created_at: day(1), updated_at: day(3) },
  { title: 'Ask Mira for the recipe', finished: 0, created_at: day(2) },
  { title: 'Water the plants on the balcony', finished: 0, created_at: day(3) },
  { title: 'Write the invitation for June', finished: 0, created_at: day(4) },
];

const stop = new AbortController();
await using stack = await startTemporaryStack();
await using browser = await launchChromium();
const expander = await serve(scriptedApp(web), { host: '127.0.0.1', port: 0, signal: stop.signal });
const imported = await fetch(`${stack.urls.tasks}/tasks/import`, {
  method: 'POST',
  headers: { 'Content-Type': 'application/x-ndjson' },
  body: tasks.map((task) => JSON.stringify(task)).join('\n'),
});
if (!imported.ok) throw new Error(`The tasks were not imported: ${await imported.text()}`);
for (const [name, url, height] of [
  ['expander', `${expander.url}?${new URLSearchParams({ u: shortUrl })}`, 600],
  ['tasks', `${stack.urls.tasks}/`, 600],
] as const) {
  await using page = await browser.newPage({
    viewport: { width: 640, height },
    deviceScaleFactor: 0.75,
    colorScheme: 'light',
    locale: 'en-US',
    timezoneId: 'UTC',
  });
  await page.goto(url);
  const path = join(import.meta.dirname, 'images', `${name}.png`);
  const { length } = await page.screenshot({ path, caret: 'hide' });
  // The README should load quickly.
  if (length > 60_000) throw new Error(`${path} has ${length} bytes, more than 60,000.`);
}
stop.abort();
