/** A release of this checkout in a registry of its own. */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freeStackPorts } from '@longhand/deploy/testing/stack-ports.ts';
import { docker } from '@longhand/shared/testing/engine.ts';
import { freePort } from '@longhand/shared/testing/free-port.ts';

const root = join(import.meta.dirname, '..', '..');
const run = promisify(execFile);

/** Distribution's registry, as Go or Debian names it. */
export const registryProgram = ['registry', 'docker-registry'].find(
  (name) => spawnSync(name, ['--version']).status === 0,
);

/**
 * Runs `make release` into a registry on a free port of 127.0.0.1.
 *
 * @returns an empty folder but for its compose.yaml, and the names of its images.
 */
export async function release() {
  const folder = await mkdtemp(join(tmpdir(), 'longhand-release-'));
  const address = `127.0.0.1:${await freePort()}`;
  await writeFile(
    join(folder, 'registry.yml'),
    JSON.stringify({
      version: '0.1',
      storage: { filesystem: { rootdirectory: join(folder, 'registry') } },
      http: { addr: address },
    }),
  );
  const registry = spawn(registryProgram ?? '', ['serve', join(folder, 'registry.yml')], {
    env: { ...process.env, OTEL_TRACES_EXPORTER: 'none' },
    stdio: 'ignore',
  });
  const stopRegistry = async () => {
    registry.kill();
    await once(registry, 'exit');
    await rm(folder, { recursive: true });
  };
  const installed = join(folder, 'installed');
  try {
    await mkdir(installed);
    await run('make', ['release'], { cwd: root, env: { ...process.env, PUSH: `${address}/longhand` } });
    await copyFile(join(root, 'out', 'release', 'compose.yaml'), join(installed, 'compose.yaml'));
    const compose = ['compose', '--file', join(installed, 'compose.yaml'), '--profile', 'observe'];
    const images = [...new Set((await docker(...compose, 'config', '--images')).split('\n'))];
    const tags = images.map((image) => image.replace(/@.*/, ''));
    /** Removes them from the engine, so that it has to pull them. */
    const forget = () => docker('image', 'rm', '--force', ...tags, ...images);
    await forget();
    return { folder: installed, images, stop: () => forget().then(stopRegistry) };
  } catch (error) {
    await stopRegistry();
    throw error;
  }
}

/** The environment of a compose project of its own, on free ports. */
export async function newProject() {
  const { ports, variables } = await freeStackPorts();
  const COMPOSE_PROJECT_NAME = `longhand-test-${randomBytes(4).toString('hex')}`;
  return { ports, env: { ...process.env, ...variables, COMPOSE_PROJECT_NAME } };
}
