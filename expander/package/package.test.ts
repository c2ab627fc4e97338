import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { childEnvironment } from '@longhand/shared/testing/child-environment.ts';
import { startShortener } from '@longhand/shortener';
import { expect, onTestFinished, test } from 'vitest';

const run = promisify(execFile);

test('the package installs without a registry, runs, and names the Node version that it needs', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'longhand-package-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const env = { ...childEnvironment, HOME: folder, EXPANDER_ALLOWED_NETWORKS: '127.0.0.0/8' };
  const packed = await run('npm', ['pack', '--pack-destination', folder], { cwd: import.meta.dirname, env });
  const archive = join(folder, packed.stdout.trim().split('\n').at(-1) ?? '');
  await run('npm', ['install', '--offline', '--no-audit', '--prefix', folder, archive], { cwd: folder, env });
  expect((await readdir(join(folder, 'node_modules'))).filter((name) => !name.startsWith('.'))).toEqual([
    'longhand-expand',
  ]);

  const { engines } = JSON.parse(await readFile(join(import.meta.dirname, 'package.json'), 'utf8'));
  const old = `Object.defineProperty(process, 'versions', { value: { node: '20.20.2' } })`;
  const onOldNode = run(
    process.execPath,
    [
      '--import',
      `data:text/javascript,${old}`,
      join(folder, 'node_modules/.bin/longhand-expand'),
      'sho.rt/x',
    ],
    { env },
  );
  await expect(onOldNode).rejects.toMatchObject({
    code: 1,
    stderr: `longhand-expand needs Node ${engines.node.replace('>=', '')} or later. This is Node 20.20.2.\n`,
  });

  const shortener = await startShortener();
  onTestFinished(() => shortener.close());
  const command = join(folder, 'node_modules', '.bin', 'longhand-expand');
  const { host } = new URL(shortener.url);
  // The shortener sends no Content-Type, so GET returns a file.
  for (const [follow, reason] of Object.entries({
    default: `It leads to ${host}`,
    all: `It leads to a text file at ${host}`,
  })) {
    const url = `${shortener.url}/chain/2?${follow}`;
    const { stdout } = await run(process.execPath, [command, `--follow=${follow}`, '--format=tsv', url], {
      env,
    });
    const end = `final\tunencrypted\t${reason}\n`;
    expect(stdout).toBe(`1\t${url}\t${shortener.url}/chain/0?${follow}\t2\t\t${end}`);
  }
});
