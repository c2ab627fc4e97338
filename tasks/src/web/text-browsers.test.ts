import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hasTextBrowser, readInTextBrowser } from '@longhand/shared/testing/text-browser.ts';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { testKey } from '../../testing/app.ts';
import { startReplica, useReplica } from '../../testing/replica.ts';
import { auth } from './auth.ts';

const kept = useReplica();
beforeEach(async () => void (await kept.store.create({ title: 'milk' }, new Date())));

const run = promisify(execFile);

/** Moves lynx from a field to the next link or button that begins with `name`, and presses it. */
const press = (name: string): string[] => ['^I', '/', ...name, '^J', '^J'];

/** Opens `url` in lynx, sends `keys`, leaves the focused field and quits. */
async function pressInLynx(url: string, keys: string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'longhand-lynx-'));
  try {
    const script = join(folder, 'keys');
    await writeFile(
      script,
      [...keys, '^I', 'Q', 'y'].map((key) => `key ${key === ' ' ? '<space>' : key}\n`).join(''),
    );
    const settings = join(folder, 'lynx.cfg');
    // The default shows messages for seconds.
    await writeFile(settings, 'INFOSECS:0\nMESSAGESECS:0\nALERTSECS:0\nREPLAYSECS:0\n');
    const lynx = `lynx -case -cfg=${settings} -accept_all_cookies -cmd_script=${script} ${url}`;
    // lynx draws on a terminal, which util-linux's script provides.
    const env = { PATH: process.env.PATH, HOME: folder, TERM: 'vt100', LANG: 'C.UTF-8' };
    return (await run('script', ['-qec', lynx, '/dev/null'], { env, timeout: 20_000 })).stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}

const titles = async () => (await kept.store.list({ filter: 'all' })).tasks.map(({ title }) => title);

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
    ['the button behind the field adds a task', [...'tea', '^I', '^J'], ['tea', 'milk']],
    ['the list after Finish is new: it clears', [...press('Finish milk'), ...press('Clear finished')], []],
    ['a page deletes a task', [...press('Edit'), ...press('Delete')], []],
    ['the list then offers Undo', [...press('Edit'), ...press('Delete'), ...press('Undo')], ['milk']],
  ])('%s', async (_what, keys, after) => {
    await pressInLynx(kept.service.url, keys);
    expect(await titles()).toEqual(after);
  });

  test('a list with a password asks for it, then adds a task', async () => {
    const locked = await startReplica(kept.url, { auth: auth('sesame', testKey) });
    onTestFinished(() => void locked.stop());
    await pressInLynx(locked.url, [...'sesame', '^I', '^J', ...'tea', '^I', '^J']);
    expect(await titles()).toEqual(['tea', 'milk']);
  });
});
