import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@longhand/shared/free-port.ts';
import { startRedisProcess } from '@longhand/shared/testing/redis.ts';
import { Redis } from 'ioredis';

const root = join(import.meta.dirname, '..', '..');

/** Milliseconds a service may take until it answers. */
const startTime = 10_000;

/** One of the services as it comes, without the proxy; its log goes nowhere. */
export interface Service {
  url: string;
  pid: number;
  redis: { url: string; pid: number };
  stop(): Promise<void>;
}

/**
 * Starts a service, and resolves once it answers.
 *
 * @param shared the Redis of another one; without it, one of its own, of the service's configuration, whose
 *   memory has no bound.
 */
export async function startService(name: 'expander' | 'tasks', shared?: { url: string }): Promise<Service> {
  const own = shared
    ? undefined
    : await startRedisProcess(join(root, name, 'redis.conf'), '--maxmemory', '0');
  const redis = shared ?? (own as { url: string });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const operationsPort = await freePort();
  const operations = `http://127.0.0.1:${operationsPort}`;
  const child = spawn(process.execPath, [join(root, name, 'src', 'main.ts')], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      PORT: `${port}`,
      OPS_PORT: `${operationsPort}`,
      REDIS_URL: redis.url,
      ...(name === 'expander' && { EXPANDER_ALLOWED_NETWORKS: '127.0.0.0/8' }),
    },
  });
  const ended = once(child, 'exit');
  const deadline = Date.now() + startTime;
  while (!(await fetch(`${operations}/livez`).catch(() => undefined))?.ok) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`The ${name} did not start.`);
    await sleep(20);
  }
  return {
    url,
    pid: child.pid as number,
    redis: { url: redis.url, pid: await redisProcess(redis.url) },
    async stop() {
      child.kill('SIGKILL');
      await ended;
      await own?.stop();
    },
  };
}

async function redisProcess(url: string): Promise<number> {
  const redis = new Redis(url);
  const about = await redis.info('server');
  redis.disconnect();
  return Number(/process_id:(\d+)/.exec(about)?.[1]);
}
