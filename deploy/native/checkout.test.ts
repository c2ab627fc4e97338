import { cp, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Runner } from '../testing/runner.ts';

const root = join(import.meta.dirname, '..', '..');
const runner = new Runner();

test('A checkout may have any path, such as a long one with characters that mean something to programs', async () => {
  const checkout = join(runner.folder, `$HOME [a-z] "it's" ;#{${'x'.repeat(100)}`);
  await mkdir(checkout, { recursive: true });
  for (const folder of ['deploy', 'docs', 'proxy', 'expander', 'tasks', 'shared', 'package.json']) {
    const filter = (path: string) => !path.includes('node_modules');
    await cp(join(root, folder), join(checkout, folder), { recursive: true, filter });
  }
  await symlink(join(root, 'node_modules'), join(checkout, 'node_modules'));
  runner.folder = join(checkout, '.local');

  const { output } = await runner.up({}, join(checkout, 'deploy', 'native', 'main.ts'));
  for (const port of Object.values(runner.ports)) await runner.isServed(port);
  // The folder of this test is root's alone.
  if (process.getuid?.() === 0)
    expect(output()).toContain('Everything runs as root, because other users cannot read');
}, 120_000);
