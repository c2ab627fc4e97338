import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { docker } from '@longhand/shared/testing/engine.ts';
import { freePorts } from '@longhand/shared/testing/free-port.ts';
import type { ServiceName, TestStack } from './test-stack.ts';

const root = join(import.meta.dirname, '..', '..');
const run = promisify(execFile);

export interface ComposedStack extends TestStack {
  /** The name of the compose project, unique for each stack. */
  readonly project: string;
  /** Runs `docker compose` and returns its output. */
  compose(...args: string[]): Promise<string>;
  /** The ids of a service's containers, sorted. */
  containers(service: ServiceName): Promise<string[]>;
  /** Runs a script of deploy/ on this stack, and returns its output. */
  script(path: string, args: string[], input?: string): Promise<string>;
}

/**
 * Starts the stack of docker-compose.yml with the local shortener, as a separate project on free ports; `stop` removes
 * everything.
 */
export async function startComposed(): Promise<ComposedStack> {
  const project = `longhand-test-${randomBytes(4).toString('hex')}`;
  const ports = await freePorts('LONGHAND_PORT', 'LONGHAND_EXPANDER_PORT', 'LONGHAND_TASKS_PORT');
  const env: NodeJS.ProcessEnv = { ...process.env, COMPOSE_PROJECT_NAME: project };
  for (const [name, port] of Object.entries(ports)) env[name] = `${port}`;
  const compose = async (...args: string[]) => {
    const { stdout } = await run('docker', ['compose', ...args], {
      cwd: root,
      env,
      maxBuffer: 64 * 1024 * 1024,
    });
    return stdout.trim();
  };
  const containers = async (service: ServiceName) => {
    const labels = [`project=${project}`, `service=${service}`, 'oneoff=False'];
    const filters = labels.flatMap((label) => ['--filter', `label=com.docker.compose.${label}`]);
    const ids = await docker('ps', '--quiet', '--no-trunc', ...filters);
    return ids.split('\n').filter(Boolean).toSorted();
  };
  /** Signals the program itself: process 1 is the init. */
  const signal = async (service: ServiceName, name: string) => {
    const command = `kill -${name} $(cat /proc/1/task/1/children)`;
    const [id = ''] = await containers(service);
    // Fails when the container exits before the command does.
    await docker('exec', id, 'sh', '-c', command).catch(() => {});
  };
  const stop = async () => {
    await compose('--profile', 'load', 'down', '--volumes', '--timeout', '20');
    const images = ['proxy', 'expander', 'tasks', 'shortener'].map((target) => `${project}-${target}`);
    await docker('image', 'rm', '--force', ...images);
  };

  try {
    await compose('up', '--build', '--wait', 'shortener');
    // Only its address: the network may be one whose addresses a test expects to be refused.
    const network = `(index .NetworkSettings.Networks "${project}_egress")`;
    const address = await docker(
      'inspect',
      await compose('ps', '--quiet', 'shortener'),
      '--format',
      `{{${network}.IPAddress}}/32`,
    );
    env.EXPANDER_ALLOWED_NETWORKS = address;
    await compose('up', '--build', '--wait', 'proxy');
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    project,
    compose,
    containers,
    port: ports.LONGHAND_PORT,
    expanderPort: ports.LONGHAND_EXPANDER_PORT,
    tasksPort: ports.LONGHAND_TASKS_PORT,
    shortener: 'http://shortener:9000',
    async script(path, args, input = '') {
      const running = run(join(root, 'deploy', path), args, { cwd: root, env });
      running.child.stdin?.end(input);
      return (await running).stdout;
    },
    async proxyLog() {
      const [id = ''] = await containers('proxy');
      return (await docker('logs', id)).split('\n');
    },
    pause: (service) => signal(service, 'STOP'),
    resume: (service) => signal(service, 'CONT'),
    kill: (service) => signal(service, 'KILL'),
    stop,
  };
}
