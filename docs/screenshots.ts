import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { serve } from '@longhand/shared/serve.ts';
import { launchChromium } from '@longhand/shared/testing/chromium.ts';
import { startStack } from '../deploy/native/stack.ts';
import { scriptedApp, to } from '../expander/testing/scripted-web.ts';

/** `make screenshots`: takes the pictures in the README, of the expander over a scripted web and of a real task list. */
const images = join(import.meta.dirname, 'images');
/** A README loads quickly: a picture over 60 kB is too large. */
const maxBytes = 60_000;

const shortUrl = 'https://sho.rt/walk';
const campaign = 'https://news.example/r/48113?to=walk';
const article = 'https://www.example.org/guides/a-walk-along-the-river';
/** Each website takes its time to answer. */
const web = {
  get [shortUrl]() {
    return after(38, to(campaign));
  },
  get [campaign]() {
    return after(61, to(article, 302));
  },
  get [article]() {
    return after(112, {});
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
const folder = await mkdtemp(join(tmpdir(), 'longhand-screenshots-'));
const anyPort = { LONGHAND_PORT: '0', LONGHAND_EXPANDER_PORT: '0', LONGHAND_TASKS_PORT: '0' };
const [expander, stack, browser] = await Promise.all([
  serve(scriptedApp(web), { host: '127.0.0.1', port: 0, signal: stop.signal }),
  startStack({ folder, env: { ...process.env, ...anyPort }, onLine() {} }),
  launchChromium(),
]);
try {
  const imported = await fetch(`${stack.urls.tasks}/tasks/import`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-ndjson' },
    body: tasks.map((task) => JSON.stringify(task)).join('\n'),
  });
  if (!imported.ok) throw new Error(`The tasks were not imported: ${await imported.text()}`);
  await takePicture(`${expander.url}?${new URLSearchParams({ u: shortUrl })}`, 'expander', 850);
  await takePicture(`${stack.urls.tasks}/`, 'tasks', 600);
} finally {
  stop.abort();
  await Promise.all([browser.close(), stack.stop()]);
  await rm(folder, { recursive: true });
}

async function takePicture(url: string, name: string, height: number): Promise<void> {
  const page = await browser.newPage({
    viewport: { width: 640, height },
    deviceScaleFactor: 0.75,
    colorScheme: 'light',
    locale: 'en-US',
    timezoneId: 'UTC',
  });
  await page.goto(url);
  const path = join(images, `${name}.png`);
  await page.screenshot({ path, caret: 'hide' });
  await page.close();
  const { size } = await stat(path);
  console.log(`${path}: ${size} bytes`);
  if (size > maxBytes) throw new Error(`${path} has ${size} bytes, more than ${maxBytes}.`);
}
