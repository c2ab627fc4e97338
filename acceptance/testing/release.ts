import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '@longhand/shared/testing/free-port.ts';

const root = join(import.meta.dirname, '..', '..');
const run = promisify(execFile);

/** The installed Distribution registry: `registry` from Go, or `docker-registry` from Debian. */
export const registryProgram = ['registry', 'docker-registry'].find(
  (name) => spawnSync(name, ['--version']).status === 0,
);

/** Starts a registry on a free port of 127.0.0.1, with its files in `folder`. */
export async function startRegistry(folder: string) {
  const address = `127.0.0.1:${await freePort()}`;
  const storage = { filesystem: { rootdirectory: join(folder, 'images') } };
  const config = join(folder, 'registry.yml');
  writeFileSync(config, JSON.stringify({ version: '0.1', storage, http: { addr: address } }));
  const env = { ...process.env, OTEL_TRACES_EXPORTER: 'none' };
  const registry = spawn(registryProgram ?? '', ['serve', config], { env, stdio: 'ignore' });
  return {
    address,
    async stop() {
      registry.kill();
      await once(registry, 'exit');
    },
  };
}

/**
 * Releases a commit from a new clone in `folder` to the registry at `address`.
 *
 * @returns the path of the release's compose.yaml.
 */
export async function release(commit: string, folder: string, address: string): Promise<string> {
  await run('git', ['clone', '--quiet', '--shared', '--no-checkout', root, folder]);
  await run('git', ['checkout', '--quiet', '--detach', commit], { cwd: folder });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  await run('deploy/release/release.sh', {
    cwd: folder,
    env: { ...process.env, PUSH: `${address}/longhand` },
  });
  return join(folder, 'out', 'release', 'compose.yaml');
}
