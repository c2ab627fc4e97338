import type { IncomingMessage } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { sharedChromium } from '@longhand/shared/testing/chromium.ts';
import { freePort } from '@longhand/shared/testing/free-port.ts';
import { randomNumbers } from '@longhand/shared/testing/random.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { onTestFinished, test } from 'vitest';
import { poll } from '../../testing/browser.ts';
import { compare, type Device } from '../../testing/ledger.ts';
import { type Fault, startRelay } from '../../testing/relay.ts';
import { startService } from '../../testing/service.ts';
import { allTasks, useStore } from '../../testing/store.ts';
import { type Note, watchList } from '../../testing/watch-list.ts';

const kept = useStore();
const random = randomNumbers();
const below = (count: number) => Math.floor(random() * count);
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

interface User extends Device {
  page: Page;
  relay: Awaited<ReturnType<typeof startRelay>>;
}

/** The network between a user and the service is slow, and loses some requests and responses. */
const network = { isFaulty: true, random: randomNumbers(1) };

function faultOf({ url = '', headers }: IncomingMessage): Fault {
  const isChange = /^\/tasks?(\/|\?|$)/.test(url) && url !== '/tasks/events';
  if (!network.isFaulty || !isChange || headers['sec-fetch-mode'] === 'navigate') return {};
  const chance = network.random();
  if (chance < 0.04) return { lose: 'request' };
  return chance < 0.08 ? { delay: 400, lose: 'response' } : { delay: 400 };
}

async function startUser(name: string, target: string, options: BrowserContextOptions = {}): Promise<User> {
  const relay = await startRelay(target, faultOf);
  const context = await (await sharedChromium()).newContext(options);
  onTestFinished(async () => {
    await context.close();
    relay.stop();
  });
  const notes: Note[] = [];
  const page = await context.newPage();
  page.on('dialog', (dialog) => dialog.accept());
  await page.exposeFunction('note', (note: Note) => notes.push(note));
  await page.addInitScript(watchList(name));
  await page.goto(relay.url);
  await poll(() => page.evaluate("caches.match('/').then(Boolean)")).toBe(true);
  return { name, page, relay, entered: [], notes, forwarded: relay.forwarded };
}

/** The center of a random part of a visible row. */
const place = (page: Page, part: string) =>
  page.evaluate<{ x: number; y: number } | undefined>(`(() => {
    const notice = document.getElementById('notice').getBoundingClientRect().top;
    const places = [...document.querySelectorAll('.tasks > li:not([inert], .editing) ${part}')]
      .map((element) => ({ id: element.closest('li').id.replace('task-', ''), box: element.getBoundingClientRect() }))
      .filter(({ box: { top, bottom, width } }) => width > 0 && top > 0 && bottom < Math.min(innerHeight, notice));
    const chosen = places[Math.floor(${random()} * places.length)];
    aimedAt = chosen?.id;
    return chosen && { x: chosen.box.x + chosen.box.width / 2, y: chosen.box.y + chosen.box.height / 2 };
  })()`);

async function add({ name, page, entered }: User) {
  const word = `${name}${entered.length}.`;
  entered.push(word);
  await page.evaluate(`{
    const field = document.getElementById('title');
    field.value = (field.value.trim() + '\\n${word}').trim();
    field.dispatchEvent(new Event('input', { bubbles: true }));
    field.form.requestSubmit();
  }`);
}

/** Taps a circle. The tap acts on that row, or on nothing. */
async function tap({ page }: User) {
  const aim = await place(page, '.toggle');
  if (aim) await page.mouse.click(aim.x, aim.y);
}

let edits = 0;
async function rename({ page, notes }: User) {
  edits += 1;
  const edited = await page.evaluate<Extract<Note, { kind: 'edited' }> | undefined>(`(() => {
    const rows = [...document.querySelectorAll('.tasks > li:not([inert], .editing)')].filter((row) => row.checkVisibility());
    rows[Math.floor(${random()} * rows.length)]?.querySelector('.edit').click();
    const form = document.querySelector('.editing form');
    // The form of a deleted task adds a new task.
    if (!form || form.title.readOnly || !form.revision) return undefined;
    form.title.value = form.title.value.replace(/~.*/, '') + '~${edits}';
    form.title.dispatchEvent(new Event('input', { bubbles: true }));
    form.requestSubmit();
    const id = form.closest('li').id.replace('task-', '');
    return { kind: 'edited', time: Date.now(), id, title: form.title.value };
  })()`);
  if (edited) notes.push(edited);
}

async function remove({ page }: User) {
  await page.evaluate(`{
    const rows = [...document.querySelectorAll('.tasks > li:not([inert], .editing)')].filter((row) => row.checkVisibility());
    rows[Math.floor(${random()} * rows.length)]?.querySelector('.actions button').click();
  }`);
}

/** Undoes the last change. */
const undo = ({ page }: User) => page.evaluate("document.querySelector('#notice form')?.requestSubmit()");

async function sleep({ page }: User) {
  const hide = (hidden: boolean) => `
    Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));`;
  await page.evaluate(hide(true));
  await page.evaluate(hide(false));
}

/** Reloads the page, again if the service has answered that its store is down. */
const reload = ({ page }: User) =>
  poll(async () => {
    await page.reload();
    return page.locator('#notice').count();
  }).toBe(1);

const losses = ['down', 'hung', 'silent'] as const;

const actions: { weight: number; act: (user: User) => unknown }[] = [
  { weight: 4, act: add },
  { weight: 8, act: tap },
  { weight: 2, act: rename },
  { weight: 2, act: remove },
  { weight: 1, act: undo },
  { weight: 1, act: ({ page }) => page.evaluate("document.querySelector('.changes button')?.click()") },
  { weight: 1, act: sleep },
  { weight: 1, act: reload },
  { weight: 1, act: ({ relay }) => relay.lose(losses[below(losses.length)]) },
  { weight: 3, act: ({ relay }) => relay.restore() },
];
const chosen = actions.flatMap(({ weight, act }) => Array(weight).fill(act) as (typeof act)[]);

/** Sends what is still in a form, until nothing is left or waits. Closes the forms of deleted tasks. */
async function finish({ page, relay }: User) {
  relay.restore();
  await poll(async () => {
    await page.evaluate(`for (const form of document.querySelectorAll('.write')) {
      if (document.querySelector('.busy') || !form.querySelector('[name=title]').value) continue;
      if (form.closest('li') && !form.revision) form.querySelector('.cancel').click();
      else form.requestSubmit();
    }`);
    return page.evaluate(`({
      unsent: document.querySelectorAll('.busy, .editing, [data-waits]').length,
      text: document.getElementById('title').value,
      connection: document.getElementById('connection').textContent,
    })`);
  }).toEqual({ unsent: 0, text: '', connection: '' });
}

/** The tasks that exist or have existed. */
async function knownTasks() {
  const keys = (await kept.keys()).filter((key) => key.startsWith('{tasks}:task:'));
  const titles = await Promise.all(keys.map((key) => kept.redis.hget(key, 'title')));
  return keys.map((key, i) => ({ id: key.replace('{tasks}:task:', ''), title: titles[i] ?? '' }));
}

test('Two phones and a desk lose and double nothing beside faults, and no row moves that was just touched', async () => {
  const port = await freePort();
  const start = () => startService({ REDIS_URL: kept.url, PORT: `${port}` });
  let service = await start();
  onTestFinished(async () => void (await service.end('SIGKILL')));
  const users = [
    await startUser('a', service.url, phone),
    await startUser('b', service.url, phone),
    await startUser('desk', service.url),
  ];
  const count = rounds({ short: 90, long: 2_000 });
  for (let i = 1; i <= count; i += 1) {
    const user = users[below(users.length)] as User;
    await chosen[below(chosen.length)]?.(user);
    await setTimeout(below(250));
    if (i % 40 === 0) {
      await service.end('SIGKILL');
      service = await start();
    }
    if (i % 70 === 0) {
      await kept.server.kill();
      await kept.server.start();
    }
  }
  network.isFaulty = false;
  for (const user of users) await finish(user);

  // A tick whose page was reloaded is sent again after 20 s.
  await poll(async () => compare(users, await allTasks(kept.store), await knownTasks())).toEqual([]);
  const first = (await kept.store.list({ filter: 'all' })).tasks.map(({ title }) => title);
  // Others' changes come once the list is at rest.
  for (const { page } of users) await poll(() => page.locator('.title').allTextContents()).toEqual(first);
}, 1_800_000);
