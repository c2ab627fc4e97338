import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { acceptsConnections } from '@longhand/shared/listen.ts';
import { freePorts } from '@longhand/shared/testing/free-port.ts';
import { startRedis } from '@longhand/shared/testing/redis.ts';

const root = join(import.meta.dirname, '..', '..');

/** Maximum startup time (ms). */
const startTimeout = 30_000;

export interface Program extends AsyncDisposable {
  url: string;
  pid: number;
}

/**
 * Runs the program at `path`, discards its output, and resolves once it listens on 127.0.0.1.
 *
 * @param start returns the arguments and variables for two free ports. The program serves its operations endpoints on the second
 * port.
 * @throws Error if the program does not listen within 30 s.
 */
export async function startProgram(
  path: string,
  start: (port: string, operations: string) => { args?: string[]; env?: NodeJS.ProcessEnv },
): Promise<Program> {
  const { port, operations } = await freePorts('port', 'operations');
  const { args = [], env = {} } = start(`${port}`, `${operations}`);
  const child = spawn(process.execPath, [path, ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...env },
  });
  const exited = once(child, 'exit');
  const deadline = Date.now() + startTimeout;
  while (!(await acceptsConnections({ host: '127.0.0.1', port }))) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`${path} did not start.`);
    await sleep(20);
  }
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid as number,
    async [Symbol.asyncDispose]() {
      child.kill();
      await exited;
    },
  };
}

/** Starts the plain implementation of a service, with its keys in the Redis at `redis`. */
export const startPlain = (name: 'expander' | 'tasks', redis: string): Promise<Program> =>
  startProgram(join(import.meta.dirname, 'plain.ts'), (port) => ({ args: [name, port, redis] }));

/**
 * Starts the local shortener in a separate process, so that its CPU time is not measured.
 *
 * @param options more command-line options.
 */
export const startShortener = (...options: string[]): Promise<Program> =>
  startProgram(join(root, 'shortener', 'shortener.ts'), (port) => ({ args: ['--port', port, ...options] }));

export interface Service extends Program {
  redis: string;
}

/** Starts a service with its default settings and its own Redis, in a container if a Docker engine responds. */
export async function startService(name: 'expander' | 'tasks', start = startRedis): Promise<Service> {
  const redis = await start(join(root, name, 'redis.conf'));
  const allowed = name === 'expander' && { EXPANDER_ALLOWED_NETWORKS: '127.0.0.0/8' };
  const service = await startProgram(join(root, name, 'src', 'main.ts'), (PORT, OPS_PORT) => ({
    env: { PORT, OPS_PORT, REDIS_URL: redis.url, ...allowed },
  }));
  return {
    ...service,
    redis: redis.url,
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await redis.stop();
    },
  };
}
