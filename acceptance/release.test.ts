import { execFile } from 'node:child_process';
import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { docker, engineAnswers } from '@longhand/shared/testing/engine.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { acceptanceRules } from './suite/acceptance.ts';
import { browserWalk } from './suite/browser.ts';
import { containerRules } from './suite/containers.ts';
import { composeProject } from './testing/compose-project.ts';
import { type ComposedStack, startComposed } from './testing/composed.ts';
import { newProject, registryProgram, release } from './testing/release.ts';
import { openSession } from './testing/session.ts';

// Two minutes, of which building and pulling take most.
const long = rounds({ short: 0, long: 1 }) === 1;
const engine = await engineAnswers();
if (long && !engine) console.warn('Skipped: a release, because no Docker engine answers on this machine.');
if (long && !registryProgram)
  console.warn('Skipped: a release, because this machine has no registry: apt-get install docker-registry');

const possible = long && engine && registryProgram;
test.runIf(!possible)('a release (make test-long installs one and follows docs/install.md)', ({ skip }) =>
  skip(),
);

/** Without a release there is one skipped test rather than seventy. */
const aRelease = possible ? describe : () => {};
aRelease('A release', { timeout: 120_000 }, () => {
  let released: Awaited<ReturnType<typeof release>>;
  beforeAll(async () => {
    released = await release();
  }, 600_000);
  afterAll(() => released?.stop());

  test('one file in an empty folder starts the stack, with every image by its digest', async () => {
    const { folder, images } = released;
    expect(await readdir(folder)).toEqual(['compose.yaml']);
    expect(images).toHaveLength(6);
    for (const image of images) {
      expect(image).toMatch(/:\d+\.\d+\.\d+@sha256:[0-9a-f]{64}$/);
      await expect(docker('image', 'inspect', image)).rejects.toThrow('No such image');
    }
    const { env, ports } = await newProject();
    const { compose } = composeProject(env, folder);
    onTestFinished(() => compose('down', '--volumes').then(() => {}));
    await compose('up', '--detach', '--wait');
    expect((await openSession(ports.LONGHAND_TASKS_PORT).add('installed')).status).toBe(302);

    const expander = images.find((image) => image.includes('/expander:')) ?? '';
    const labels = await docker('image', 'inspect', expander, '--format', '{{json .Config.Labels}}');
    expect(JSON.parse(labels)).toMatchObject({
      'org.opencontainers.image.title': 'Longhand expander',
      'org.opencontainers.image.version': manifest.version,
    });
    const help = await compose('run', '--rm', '-T', 'expander', 'longhand-expand', '--help');
    expect(help).toContain('--follow');
  });

  test('the commands of docs/install.md make a backup, upgrade, and bring the backup back', async () => {
    const page = await readFile(join(import.meta.dirname, '..', 'docs', 'install.md'), 'utf8');
    const { env, ports } = await newProject();
    const { compose } = composeProject(env, released.folder);
    onTestFinished(() => compose('down', '--volumes').then(() => {}));
    const follow = async (heading: string) => {
      const [, section = ''] = page.split(`## ${heading}\n`);
      const commands = section
        .split('\n## ')[0]
        ?.match(/(?<=^ {4}(0 3 \* \* \* cd \/srv\/longhand && )?)(umask|docker compose) .*/gm) ?? ['false'];
      await promisify(execFile)('sh', ['-ec', commands.join('\n')], { cwd: released.folder, env });
    };
    await compose('up', '--detach', '--wait');
    const session = openSession(ports.LONGHAND_TASKS_PORT);
    await session.add('before');
    await follow('Back up every night');
    const backups = join(released.folder, 'backups');
    const [made = ''] = await readdir(backups);
    await rename(join(backups, made), join(backups, 'tasks-20261121T030000Z.rdb'));
    await session.add('after');
    await follow('Upgrade');
    expect(await session.tasks()).toHaveLength(2);
    await follow('Restore a backup');
    expect((await session.tasks()).map(({ title }) => title)).toEqual(['before']);
  });

  describe('from outside', () => {
    let stack: ComposedStack;
    beforeAll(async () => {
      const build = { context: join(import.meta.dirname, '..'), target: 'shortener' };
      const services = { shortener: { build, networks: ['egress'] } };
      await writeFile(join(released.folder, 'shortener.json'), JSON.stringify({ services }));
      stack = await startComposed({ folder: released.folder, files: ['compose.yaml', 'shortener.json'] });
    });
    afterAll(() => stack?.stop());

    acceptanceRules(() => stack);
    browserWalk(() => stack);
    containerRules(() => stack);
  });
});
