import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freeStackPorts } from '@longhand/deploy/testing/temporary-stack.ts';
import { docker, hasEngine } from '@longhand/shared/testing/engine.ts';
import { freePorts } from '@longhand/shared/testing/free-port.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import { describeUnless } from '@longhand/shared/testing/unless.ts';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ownNetworks } from './testing/composed.ts';
import { registryProgram, release, startRegistry } from './testing/release.ts';
import { openSession } from './testing/session.ts';

const isLong = rounds({ short: 0, long: 1 }) === 1;
/** Returns what the test lacks. `make test-long` installs the registry. */
async function findMissing() {
  if (!isLong) return 'runs in make test-long';
  if (!registryProgram) return 'needs the program registry or docker-registry';
  return !(await hasEngine()) && 'needs a Docker engine';
}
const services = ['backup', 'expander', 'expander-cache', 'proxy', 'tasks', 'tasks-store'];
const networks = ['egress', 'front', 'to-expander', 'to-expander-cache', 'to-tasks', 'to-tasks-store'];

describeUnless(await findMissing())('A year of one installation', { timeout: 600_000 }, () => {
  const work = join(tmpdir(), `longhand-year-${process.pid}`);
  const folder = join(work, 'installed');
  const began = Date.now();
  let [project, gateway] = ['', ''];
  let port: number;
  /** HTTP and HTTPS ports. */
  let ports: Record<string, number>;
  let registry: Awaited<ReturnType<typeof startRegistry>>;
  /** Paths of two releases' compose.yaml. */
  let [before, after] = ['', ''];
  let images: string[];
  const settings = new Map<string, string | number>();
  /** Titles of all saved tasks. */
  const saved: string[] = [];
  /** Expected services, volumes and networks. */
  let installed = {
    services,
    networks,
    volumes: ['certificates', 'expander-cache-password', 'tasks', 'tasks-store-password'],
  };

  /** Returns the commands in a section of a release's document, without `sudo` for root. */
  const documented = (document: string, heading: string, pattern: RegExp): string[] => {
    const text = readFileSync(join(work, 'after', 'docs', document), 'utf8');
    const [, section = ''] = text.split(new RegExp(`^#+ ${heading}\n`, 'm'));
    const commands = [...(section.split(/^#/m)[0] ?? '').matchAll(/^ {4}((?:.*(?:\\|&&)\n)*.+)$/gm)];
    return commands
      .map(([, command = '']) => (process.getuid?.() === 0 ? command.replaceAll('sudo ', '') : command))
      .filter((command) => pattern.test(command));
  };
  /** Runs a command in the installation folder. */
  const run = async (command: string): Promise<string> => {
    console.log(`$ ${command}`);
    const { stdout } = await promisify(execFile)('bash', ['-ec', command], { cwd: folder });
    return stdout.trim();
  };
  const runAll = async (commands: readonly string[]) => {
    expect(commands).not.toEqual([]);
    for (const command of commands) await run(command);
  };
  const configure = (change: Record<string, string | number>) => {
    for (const [name, value] of Object.entries(change)) settings.set(name, value);
    writeFileSync(join(folder, '.env'), [...settings].map((entry) => `${entry.join('=')}\n`).join(''));
  };
  const start = () => run('docker compose up --detach --wait');
  const ask = (path: string, options: RequestInit = {}) => {
    const json = { Accept: 'application/json', 'Content-Type': 'application/json' };
    const headers = { Authorization: 'Bearer secret', ...json };
    return fetch(`http://127.0.0.1:${port}${path}`, { headers, ...options });
  };
  const titles = async () => {
    const tasks = (await (await ask('/tasks/export?format=json')).json()) as { title: string }[];
    return tasks.map(({ title }) => title).toSorted();
  };
  const add = async (title: string) => {
    const { status } = await ask('/tasks', { method: 'POST', body: JSON.stringify({ title }) });
    if (status === 201) saved.push(title);
    return status;
  };
  /** Lists this project's containers, networks or volumes. */
  const resources = async (kind: 'ps --all' | 'network ls' | 'volume ls', format: string) => {
    const label = `label=com.docker.compose.project=${project}`;
    const listed = await docker(...kind.split(' '), '--filter', label, '--format', format);
    return listed.replaceAll(`${project}_`, '').split('\n').filter(Boolean).toSorted();
  };
  /** Keeps the store's in-memory disk mounted while the stack is down. */
  const keepDisk = () =>
    run(
      `docker run --detach --rm --init --name ${project}-disk --network none --volume ${project}_tasks:/data redis:8.0.2 sleep infinity`,
    );

  beforeAll(async () => {
    mkdirSync(folder, { recursive: true });
    const { variables } = await freeStackPorts();
    ports = await freePorts('LONGHAND_HTTP_PORT', 'LONGHAND_HTTPS_PORT');
    port = Number(variables.LONGHAND_TASKS_PORT);
    project = `longhand-year-${port}`;
    gateway = await docker('network', 'inspect', 'bridge', '--format', '{{(index .IPAM.Config 0).Gateway}}');
    registry = await startRegistry(work);
    before = await release('HEAD~1', join(work, 'before'), registry.address);
    after = await release('HEAD', join(work, 'after'), registry.address);
    const used = [before, after].map((file) =>
      docker('compose', '--file', file, '--profile', 'observe', 'config', '--images'),
    );
    images = [...new Set((await Promise.all(used)).join('\n').split('\n'))];
    await docker('image', 'rm', '--force', ...images, ...images.map((image) => image.replace(/@.*/, '')));
    console.log(`Built two releases in ${Math.round((Date.now() - began) / 1_000)} s.`);

    copyFileSync(before, join(folder, 'compose.yaml'));
    writeFileSync(join(folder, 'tokens'), 'phone secret\n', { mode: 0o644 });
    const disk = { driver_opts: { type: 'tmpfs', device: 'tmpfs', o: 'size=32m,uid=999,gid=999,mode=700' } };
    const override = { networks: ownNetworks(port), volumes: { tasks: disk } };
    writeFileSync(join(folder, 'compose.override.yaml'), JSON.stringify(override));
    const secrets = { TASKS_PASSWORD_FILE: './password', TASKS_TOKENS_FILE: './tokens' };
    configure({ COMPOSE_PROJECT_NAME: project, ...variables, ...secrets });
  }, 900_000);
  afterAll(async () => {
    await run(`docker rm --force ${project}-disk ${project}-redis || true; docker compose down --volumes`);
    await run(`docker volume rm --force ${project}-redis`);
    await docker('image', 'rm', '--force', ...images);
    await registry?.stop();
    rmSync(work, { recursive: true, force: true });
    console.log(`Simulated a year in ${Math.round((Date.now() - began) / 60_000)} minutes.`);
  });

  afterEach(async () => {
    if (installed.services.length > 0) {
      expect(await titles()).toEqual(saved.toSorted());
      await add(expect.getState().currentTestName ?? '');
    }
    const states = await resources('ps --all', '{{.Label "com.docker.compose.service"}} {{.State}}');
    const running = installed.services.map((service) => `${service} running`);
    expect(states.filter((state) => state !== 'settings exited')).toEqual(running);
    expect(await resources('network ls', '{{.Name}}')).toEqual(installed.networks);
    expect(await resources('volume ls', '{{.Name}}')).toEqual(installed.volumes);
    console.log(`Found all ${saved.length} tasks and no leftover resources.`);
  });

  test('compose.yaml alone installs the release', async () => {
    expect(images).toHaveLength(12);
    for (const image of images) expect(image).toMatch(/:\d+\.\d+\.\d+@sha256:[0-9a-f]{64}$/);
    await runAll(documented('install.md', 'Open it on your phone', /openssl|^chown/));
    await start();
    await keepDisk();
    await add('kept by docker compose down');
    // Skip commands that build or do not exit.
    await runAll(documented('install.md', 'Start', /^docker compose (?!up --build|logs --follow)/));
    expect(await run('docker compose run --rm -T expander longhand-expand --help')).toContain('--follow');
  });

  test('a renewed certificate takes effect without a restart', async () => {
    const commands = documented('tls.md', 'TLS', /^(mkdir -p|\[ -e|chmod| +export|curl)/);
    const certify = commands
      .filter((command) => /^(mkdir|\[|chmod)/.test(command))
      .map((command) => command.replace(/^\[.*\] \|\| /, ''));
    const exported = commands.join('\n').matchAll(/(LONGHAND_\w+)=(\S+)/g);
    await runAll(certify);
    configure({ ...Object.fromEntries([...exported].map(([, name, value]) => [name, value])), ...ports });
    await start();
    installed = { ...installed, services: [...services, 'tls'] };
    const curl = `${commands.at(-1)}`.replace('8443', `${ports.LONGHAND_HTTPS_PORT}`);
    expect(await run(curl)).toContain('argument required');
    await runAll(certify.map((command) => command.replace('-days 30', '-days 60')));
    const renewed = expect.poll(() => run(curl).catch(String), { timeout: 60_000, interval: 2_000 });
    await renewed.toContain('argument required');
  });

  test('a new password takes effect without a restart and ends all sessions', async () => {
    const login = async () => {
      const session = openSession(port);
      const _csrf = /name="_csrf" value="([^"]+)"/.exec((await session.get('/login')).body)?.[1] ?? '';
      const password = readFileSync(join(folder, 'password'), 'utf8').trim();
      const body = `${new URLSearchParams({ _csrf, password })}`;
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
      expect((await session.get('/login', { method: 'POST', body, headers })).status).toBe(303);
      return async () => (await session.get('/')).status;
    };
    const page = await login();
    expect(await page()).toBe(200);
    await runAll(documented('install.md', 'Change or forget the password', /^openssl/));
    await expect.poll(page, { timeout: 30_000 }).toBe(303);
    expect(await (await login())()).toBe(200);
  });

  test('the settings check reports a typo in .env', async () => {
    configure({ TASKS_PASWORD_FILE: './password' });
    await expect(run('docker compose run --rm settings')).rejects.toMatchObject({
      stderr: expect.stringContaining('TASKS_PASWORD_FILE: unknown variable'),
    });
    settings.delete('TASKS_PASWORD_FILE');
    configure({});
  });

  const backUp = () =>
    run(`umask 077; file=backups/tasks-$(date -u +%Y%m%dT%H%M%SZ).rdb
      docker compose exec -T tasks-store redis.sh backup >$file`);
  const backups = () => readdirSync(join(folder, 'backups')).toSorted();

  test('a backup appears by itself', async () => {
    await expect
      .poll(backups, { timeout: 60_000 })
      .toEqual([expect.stringMatching(/^tasks-\d{8}T\d{6}Z\.rdb$/)]);
  });

  test('writes return 503 while the disk is full', async () => {
    await run(`docker exec ${project}-disk sh -c 'cat /dev/zero >/data/filler || true' 2>/dev/null`);
    await expect.poll(() => add('on a full disk'), { timeout: 30_000 }).toBe(503);
    await expect.poll(async () => (await ask('/tasks')).status, { timeout: 30_000 }).toBe(200);
    await run(`docker exec ${project}-disk rm /data/filler`);
    await expect.poll(() => add('with room again'), { timeout: 30_000 }).toBe(201);
    await backUp();
  });

  test('a restore recovers tasks after the volume is lost', async () => {
    await backUp();
    await run(`docker compose down && docker rm --force ${project}-disk`);
    await run(`docker volume rm ${project}_tasks`);
    await start();
    await keepDisk();
    expect(await titles()).toEqual([]);
    await run(`cp backups/${backups().at(-1)} backups/tasks-20261121T030000Z.rdb`);
    await runAll(documented('install.md', 'Restore a backup', /^docker/));
  });

  test('an upgrade to another commit and a rollback keep all changes', async () => {
    const revision = () =>
      run("docker inspect $(docker compose ps --quiet tasks) | grep -m 1 'opencontainers.image.revision'");
    const old = await revision();
    for (const file of [after, before, after]) {
      copyFileSync(file, join(folder, 'compose.yaml'));
      await runAll(documented('install.md', 'Upgrade', /docker/));
      expect((await revision()) === old).toBe(file === before);
      await add(`by ${file}`);
    }
  });

  test('a backup moves the tasks to another Redis', async () => {
    await backUp();
    const [image, data] = ['redis:8.0.2', `${project}-redis:/data`];
    const manifest = `${documented('operate.md', 'Backup', /^file appendonly/)[0]}`;
    const place = `mkdir appendonlydir && cd appendonlydir && cat >appendonly.aof.1.base.rdb && echo '${manifest}' >appendonly.aof.manifest`;
    await run(`docker run --rm -i --volume ${data} ${image} sh -c "${place}" <backups/${backups().at(-1)}`);
    const { outside } = await freePorts('outside');
    const options = `--bind ${gateway} --port ${outside} --appendonly yes --requirepass secret`;
    await run(
      `docker run --detach --name ${project}-redis --network host --volume ${data} ${image} redis-server ${options}`,
    );
    configure({ TASKS_REDIS_URL: `redis://:secret@${gateway}:${outside}` });
    await start();
    installed = { ...installed, networks: [...networks, 'to-tasks-store-outside'] };
  });

  test('docker compose down --volumes uninstalls the stack', async () => {
    await run(`docker rm --force ${project}-disk && docker compose down --volumes`);
    installed = { services: [], networks: [], volumes: [] };
    const own = ['.env', 'backups', 'compose.override.yaml', 'compose.yaml', 'password', 'tls', 'tokens'];
    const left = readdirSync(folder).filter((name) => !/^upgrade-\d{8}T\d{6}\.rdb$/.test(name));
    expect(left.toSorted()).toEqual(own);
  });
});
