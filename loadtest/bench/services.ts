import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '@longhand/shared/testing/free-port.ts';
import { startRedisProcess } from '@longhand/shared/testing/redis.ts';
import { Redis } from 'ioredis';

const root = join(import.meta.dirname, '..', '..');

/** Milliseconds that a program may take to start. */
const startTimeout = 30_000;

/**
 * Runs the program at `path`, and resolves once `url` answers. Discards its output.
 *
 * @throws Error if it exits before, or takes more than 30 s.
 */
export async function startProgram(path: string, args: string[], env: NodeJS.ProcessEnv, url: string) {
  const child = spawn(process.execPath, [path, ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...env },
  });
  const exited = once(child, 'exit');
  const deadline = Date.now() + startTimeout;
  while (!(await fetch(url).catch(() => undefined))?.ok) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`${path} did not start.`);
    await sleep(20);
  }
  return {
    pid: child.pid as number,
    async stop() {
      child.kill();
      await exited;
    },
  };
}

/** A service with its default settings, without the proxy; its log is discarded. */
export interface Service extends AsyncDisposable {
  url: string;
  pid: number;
  redis: { url: string; pid: number };
}

/**
 * Starts a service, and resolves once it is live.
 *
 * @param sharedRedis the Redis of another service; by default it gets its own, without a memory limit.
 */
export async function startService(
  name: 'expander' | 'tasks',
  sharedRedis?: { url: string },
): Promise<Service> {
  const ownRedis = sharedRedis
    ? undefined
    : await startRedisProcess(join(root, name, 'redis.conf'), '--maxmemory', '0');
  const redisUrl = (sharedRedis ?? ownRedis)?.url as string;
  const { port, operations } = await freePorts('port', 'operations');
  const variables = {
    PORT: `${port}`,
    OPS_PORT: `${operations}`,
    REDIS_URL: redisUrl,
    ...(name === 'expander' && { EXPANDER_ALLOWED_NETWORKS: '127.0.0.0/8' }),
  };
  const main = join(root, name, 'src', 'main.ts');
  const { pid, stop } = await startProgram(main, [], variables, `http://127.0.0.1:${operations}/livez`);
  return {
    url: `http://127.0.0.1:${port}`,
    pid,
    redis: { url: redisUrl, pid: await redisPid(redisUrl) },
    async [Symbol.asyncDispose]() {
      await stop();
      await ownRedis?.stop();
    },
  };
}

async function redisPid(url: string): Promise<number> {
  const redis = new Redis(url);
  const info = await redis.info('server');
  redis.disconnect();
  return Number(/process_id:(\d+)/.exec(info)?.[1]);
}
