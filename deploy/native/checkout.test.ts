import { cp, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
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

  // Localhost does not lead to this address, so the output shows it.
  const bind = { LONGHAND_BIND: '127.0.0.2' };
  const { output } = await runner.up(bind, join(checkout, 'deploy', 'native', 'main.ts'));
  for (const port of Object.values(runner.ports)) await runner.isServed(port, '127.0.0.2');
  expect(output()).toContain(`  tasks      http://127.0.0.2:${runner.ports.LONGHAND_TASKS_PORT}/\n`);
  // The folder of this test is root's alone.
  if (process.getuid?.() === 0)
    expect(output()).toContain('Everything runs as root, because an account without');
}, 120_000);
