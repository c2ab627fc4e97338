import { cp, mkdir, symlink } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { textFile } from '@longhand/shared/testing/text-file.ts';
import { expect, test } from 'vitest';
import { Runner } from '../testing/runner.ts';

const root = join(import.meta.dirname, '..', '..');
const runner = new Runner();

test('A checkout may have any path and LONGHAND_BIND name any local address, such as a long one with characters that mean something to programs', async () => {
  const checkout = join(runner.folder, `$HOME [a-z] "it's" ;#{${'x'.repeat(100)}`);
  await mkdir(checkout, { recursive: true });
  for (const folder of [
    'deploy',
    'docs',
    'proxy',
    'expander',
    'tasks',
    'shared',
    'package.json',
    'CHANGELOG.md',
  ]) {
    const filter = (path: string) => !path.includes('node_modules');
    await cp(join(root, folder), join(checkout, folder), { recursive: true, filter });
  }
  await symlink(join(root, 'node_modules'), join(checkout, 'node_modules'));
  runner.folder = join(checkout, '.local');

  // From any other folder there is no deploy/.
  const TASKS_PASSWORD_FILE = `deploy/../${relative('', textFile('open sesame'))}`;
  // Localhost does not lead to this address, so the output shows it.
  const variables = { LONGHAND_BIND: '127.0.0.2', TASKS_PASSWORD_FILE };
  const { output } = await runner.up(variables, join(checkout, 'deploy', 'native', 'main.ts'));
  for (const port of Object.values(runner.ports)) await runner.isServed(port, '127.0.0.2');
  const tasks = `http://127.0.0.2:${runner.ports.LONGHAND_TASKS_PORT}/`;
  expect((await fetch(`${tasks}tasks/events`)).status).toBe(401);
  expect(output()).toContain(`  tasks      ${tasks}\n`);
  // The folder of this test is root's alone.
  if (process.getuid?.() === 0)
    expect(output()).toContain('Everything runs as root, because an account without');
}, 120_000);
