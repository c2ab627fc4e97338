import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freeStackPorts } from '@longhand/deploy/testing/temporary-stack.ts';
import { docker } from '@longhand/shared/testing/engine.ts';
import { freePort } from '@longhand/shared/testing/free-port.ts';
import { textFile } from '@longhand/shared/testing/text-file.ts';
import { parse } from 'yaml';
import type { TestStack } from './test-stack.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');

/** Sends a signal to a container's program. Docker would not restart a container whose init process was signaled. */
export async function signal(container: string, name: string): Promise<void> {
  const command = `kill -${name} $(cat /proc/1/task/1/children)`;
  // Fails if the container exits first.
  await docker('exec', container, 'sh', '-c', command).catch(() => {});
}

/** Returns a container's address in a network. */
export const addressOf = (container: string, network: string): Promise<string> =>
  docker('inspect', container, '--format', `{{(index .NetworkSettings.Networks "${network}").IPAddress}}`);

/**
 * Returns docker-compose.yml's networks, with subnets that only this test uses. Docker's default pools allow only 31 networks.
 *
 * @param port a port from `freePort`.
 */
export function ownNetworks(port: number) {
  const { networks } = parse(readFileSync(join(root, 'docker-compose.yml'), 'utf8'));
  const config = (i: number) => [{ subnet: `10.${port >> 8}.${port & 255}.${16 * i}/28` }];
  return Object.fromEntries(Object.keys(networks).map((name, i) => [name, { ipam: { config: config(i) } }]));
}

export type ComposedStack = Awaited<ReturnType<typeof startComposed>>;

/** Returns the sorted IDs of a service's running containers. Faster than `docker compose ps`. */
async function containersOf(project: string, service: string): Promise<string[]> {
  const labels = [`project=${project}`, `service=${service}`, 'oneoff=False'];
  const filters = labels.map((label) => `--filter=label=com.docker.compose.${label}`);
  return (await docker('ps', '--quiet', '--no-trunc', ...filters)).split('\n').filter(Boolean).toSorted();
}

/**
 * Starts a compose project on free ports, with a local shortener that its expander may contact. `stop` removes everything.
 *
 * @param options.before services to start first.
 * @param options.scale options of `docker compose up`.
 */
export async function startComposed({
  files = ['docker-compose.yml'],
  before = [] as string[],
  scale = [] as string[],
} = {}) {
  const project = `longhand-test-${randomBytes(4).toString('hex')}`;
  const { ports, variables, urls } = await freeStackPorts();
  const networks = textFile(JSON.stringify({ networks: ownNetworks(ports.LONGHAND_PORT) }));
  const LONGHAND_PROMETHEUS_PORT = `${await freePort()}`;
  const own = { COMPOSE_PROJECT_NAME: project, COMPOSE_FILE: [...files, networks].join(':') };
  const env: NodeJS.ProcessEnv = { ...process.env, ...variables, LONGHAND_PROMETHEUS_PORT, ...own };
  /** Runs `docker compose` and returns its output. */
  const compose = async (...args: string[]): Promise<string> =>
    (await run('docker', ['compose', ...args], { cwd: root, env, maxBuffer: 2 ** 26 })).stdout.trim();
  const containers = (service: string) => containersOf(project, service);
  const first = async (service: string) => (await containers(service))[0] ?? '';
  const stop = async () => {
    await compose('--profile', '*', 'down', '--volumes', '--timeout', '20', '--rmi', 'local');
  };
  const start = async () => {
    await compose('up', '--build', '--wait', 'shortener', ...before);
    // Allow only this address, because tests expect the guard to refuse all private addresses.
    env.EXPANDER_ALLOWED_NETWORKS = `${await addressOf(await first('shortener'), `${project}_egress`)}/32`;
    await compose('up', '--build', '--wait', ...scale, 'proxy');
  };
  try {
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  const stack: TestStack = {
    port: ports.LONGHAND_PORT,
    expanderPort: ports.LONGHAND_EXPANDER_PORT,
    tasksPort: ports.LONGHAND_TASKS_PORT,
    shortener: 'http://shortener:9000',
    proxyLog: async () => (await docker('logs', '--since=1m', await first('proxy'))).split('\n'),
    kill: async (service) => signal(await first(service), 'KILL'),
  };
  return {
    ...stack,
    project,
    urls,
    compose,
    containers,
    stop,
    /** Runs a script in deploy/ on this stack and returns its output. */
    async script(path: string, args: string[], input = ''): Promise<string> {
      const running = run(join(root, 'deploy', path), args, { cwd: root, env });
      running.child.stdin?.end(input);
      return (await running).stdout;
    },
  };
}
