/** The stack of docker-compose.yml as a project of its own, for tests and rehearsals. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freeStackPorts } from '@longhand/deploy/testing/stack-ports.ts';
import { docker } from '@longhand/shared/testing/engine.ts';
import { textFile } from '@longhand/shared/testing/text-file.ts';
import { parse } from 'yaml';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');

/**
 * @param env names the project and its files, as for compose itself; the checkout's by default.
 * @param cwd the folder in which compose runs.
 */
export function composeProject(env: NodeJS.ProcessEnv = process.env, cwd = root) {
  /** Runs `docker compose` and returns its output. */
  const compose = async (...args: string[]): Promise<string> =>
    (await run('docker', ['compose', ...args], { cwd, env, maxBuffer: 2 ** 26 })).stdout.trim();
  // As docker-compose.yml names it.
  const { COMPOSE_PROJECT_NAME: project = 'longhand' } = env;
  return {
    compose,
    /** The ids of the running containers of a service, sorted. Compose would take a tenth of a second of CPU to say so. */
    async containers(service: string): Promise<string[]> {
      const labels = { project, service, oneoff: 'False' };
      const filters = Object.entries(labels).map(
        ([name, value]) => `--filter=label=com.docker.compose.${name}=${value}`,
      );
      const ids = await docker('ps', '--quiet', '--no-trunc', ...filters);
      return ids.split('\n').filter(Boolean).toSorted();
    },
  };
}

/** Signals the program of a container. Process 1 is the init: a signal to it counts as a wish to stop the container. */
export async function signal(container: string, name: string): Promise<void> {
  const command = `kill -${name} $(cat /proc/1/task/1/children)`;
  // Fails when the container exits before the command does.
  await docker('exec', container, 'sh', '-c', command).catch(() => {});
}

/** The address of a container in a network, as Docker names both. */
export const addressOf = (container: string, network: string): Promise<string> =>
  docker('inspect', container, '--format', `{{(index .NetworkSettings.Networks "${network}").IPAddress}}`);

/**
 * The networks of docker-compose.yml with addresses that no other stack of a test has. Docker's own pools have room for 31
 * networks, and a stack needs six.
 *
 * @param port one that `freePort` has reserved.
 */
export function ownNetworks(port: number) {
  const { networks } = parse(readFileSync(join(root, 'docker-compose.yml'), 'utf8'));
  const config = (i: number) => [{ subnet: `10.${port >> 8}.${port & 255}.${16 * i}/28` }];
  return Object.fromEntries(Object.keys(networks).map((name, i) => [name, { ipam: { config: config(i) } }]));
}

/**
 * Starts the project `name` on free ports, with a local shortener that its expander may contact; `stop` removes
 * everything.
 *
 * @param options.folder of the files; the checkout by default.
 * @param options.files of compose.
 * @param options.before services to start before the others.
 * @param options.scale options of `docker compose up`.
 */
export async function startComposeProject(
  name: string,
  {
    folder = root,
    files = ['docker-compose.yml'],
    before = [],
    scale = [],
  }: {
    folder?: string;
    files?: string[];
    before?: string[];
    scale?: string[];
  } = {},
) {
  const { ports, variables, urls } = await freeStackPorts();
  const networks = textFile(JSON.stringify({ networks: ownNetworks(ports.LONGHAND_PORT) }));
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    ...variables,
    COMPOSE_PROJECT_NAME: name,
    COMPOSE_FILE: [...files, networks].join(':'),
  };
  const { compose, containers } = composeProject(env, folder);
  const stop = async () => {
    await compose('--profile', 'load', 'down', '--volumes', '--timeout', '20', '--rmi', 'local');
  };
  try {
    await compose('up', '--build', '--wait', 'shortener', ...before);
    const [shortener = ''] = await containers('shortener');
    // Only its address: the network may be one whose addresses a test expects to be refused.
    env.EXPANDER_ALLOWED_NETWORKS = `${await addressOf(shortener, `${name}_egress`)}/32`;
    await compose('up', '--build', '--wait', ...scale, 'proxy');
  } catch (error) {
    await stop();
    throw error;
  }
  return { env, ports, urls, compose, containers, stop };
}
