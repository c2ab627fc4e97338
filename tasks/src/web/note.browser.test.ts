import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sharedChromium } from '@longhand/shared/testing/chromium.ts';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { edit, field, notice, poll } from '../../testing/browser.ts';
import { type Service, startService } from '../../testing/service.ts';
import { useStore } from '../../testing/store.ts';

const kept = useStore();
const workspace = join(import.meta.dirname, '../..');

/** What CONTRIBUTING.md asks for: a new text field needs only the schema and the views. */
const changes: Record<string, [before: string, after: string][]> = {
  'src/task/schema.ts': [
    ['  finished: z.literal(', '  note: z.string().optional(),\n  finished: z.literal('],
  ],
  'views/form.eta': [
    [
      '<button class="main">',
      '<input name="note" aria-label="Note" value="<%= it.note ?? \'\' %>">\n<button class="main">',
    ],
  ],
  'views/forms.eta': [
    [
      '<button class="main">Save',
      '<textarea name="note" aria-label="Note"></textarea>\n<button class="main">Save',
    ],
    ['name="was.title">', 'name="was.title">\n<input type="hidden" name="was.note">'],
  ],
};

let root: string;
let service: Service;

/** Starts a copy of the service with the field `note`. */
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'longhand-note-'));
  const folder = join(root, 'tasks');
  cpSync(workspace, folder, { recursive: true, filter: (path) => !path.includes('node_modules') });
  symlinkSync(join(workspace, '../node_modules'), join(root, 'node_modules'));
  for (const [file, edits] of Object.entries(changes)) {
    let source = readFileSync(join(folder, file), 'utf8');
    for (const [before, after] of edits) {
      expect(source).toContain(before);
      source = source.replace(before, after);
    }
    writeFileSync(join(folder, file), source);
  }
  service = await startService({ REDIS_URL: kept.url }, folder);
});
afterAll(async () => {
  await service.end('SIGKILL');
  rmSync(root, { recursive: true });
});

const json = { 'Content-Type': 'application/json', Accept: 'application/json' };
const url = () => `${service.url}tasks/1`;
const saved = async () => (await fetch(url(), { headers: json })).json() as Promise<object>;

/** Changes the task as another user. */
async function change(fields: object) {
  const headers = { ...json, 'If-Match': '*' };
  expect((await fetch(url(), { method: 'PUT', headers, body: JSON.stringify(fields) })).status).toBe(200);
}

const note = (page: Page) => page.locator('.editing [name=note]');

beforeEach(async () => {
  const body = JSON.stringify({ title: 'milk', note: 'two' });
  await fetch(`${service.url}tasks`, { method: 'POST', headers: json, body });
});

async function open(path = '', options = {}) {
  const context = await (await sharedChromium()).newContext(options);
  const page = await context.newPage();
  await page.goto(service.url + path);
  return page;
}

test('A second text field is added, edited, restored as a draft, and merged field by field', async () => {
  const page = await open();
  await field(page).fill('bread');
  await page.locator('.write [name=note]').fill('brown');
  await field(page).press('Enter');
  await poll(() => notice(page)).toContain('Added: bread');
  expect(await (await fetch(`${service.url}tasks/2`, { headers: json })).json()).toMatchObject({
    note: 'brown',
  });
  expect(await page.locator('.write [name=note]').inputValue()).toBe('');

  await edit(page, 1, '');
  expect(await note(page).inputValue()).toBe('two');
  await note(page).fill('three');
  await page.reload();
  await poll(() => note(page).inputValue()).toBe('three');

  await change({ title: 'oat milk' });
  await page.locator('#title-1').press('Enter');
  await poll(saved).toMatchObject({ title: 'oat milk', note: 'three' });

  await poll(() => page.locator('#title-1').count()).toBe(0);
  await edit(page, 1, ', please');
  await note(page).fill('four');
  await change({ title: 'soy milk', note: 'five' });
  await change({ note: 'four' });
  await page.locator('#title-1').press('Enter');
  await poll(() => page.getByRole('alert').textContent()).toContain('soy milk');
  expect(await note(page).inputValue()).toBe('four');
  await page.locator('#title-1').press('Enter');
  await poll(saved).toMatchObject({ title: 'oat milk, please', note: 'four' });
  await page.context().close();
});

test('Undo of an edit restores only the fields that it has changed', async () => {
  const page = await open();
  await edit(page, 1, '');
  await note(page).fill('three');
  await page.locator('#title-1').press('Enter');
  await page.getByRole('button', { name: 'Undo' }).click();
  await poll(saved).toMatchObject({ title: 'milk', note: 'two' });
  await page.context().close();
});

test('The edit page without scripts sends and merges field by field, too', async () => {
  const page = await open('tasks/1/edit', { javaScriptEnabled: false });
  await change({ title: 'oat milk' });
  await page.getByLabel('Note').fill('three');
  await page.getByRole('button', { name: 'Save' }).click();
  await poll(saved).toMatchObject({ title: 'oat milk', note: 'three' });
  await page.context().close();
});
