import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { docker, hasEngine } from './engine.ts';
import { freePort } from './free-port.ts';

/** A Redis server for tests. Restarts keep its address. */
export interface TestRedis {
  readonly url: string;
  /** Kills the server with SIGKILL, like a crash. Keeps the data. */
  kill(): Promise<unknown>;
  /** Restarts the server after `kill`, and resolves once it responds. */
  start(): Promise<void>;
  /** Makes the server hang. Connections stay open, but receive no replies. */
  pause(): Promise<unknown>;
  resume(): Promise<void>;
  /** Stops the server and deletes its data. */
  stop(): Promise<void>;
}

/** Starts Redis with the configuration file, in a container if there is a Docker engine, otherwise as a process. */
export async function startRedis(configuration: string): Promise<TestRedis> {
  return (await hasEngine()) ? inContainer(configuration) : startRedisProcess(configuration);
}

async function inContainer(configuration: string): Promise<TestRedis> {
  // The import takes a second.
  const { GenericContainer, Wait } = await import('testcontainers');
  // Testcontainers' own clean-up needs another image.
  process.env.TESTCONTAINERS_RYUK_DISABLED ??= 'true';
  const port = await freePort();
  const container = await new GenericContainer('redis:8.0.2')
    .withCopyFilesToContainer([{ source: configuration, target: '/etc/redis.conf' }])
    .withCommand(['redis-server', '/etc/redis.conf', '--protected-mode', 'no'])
    // By default, Docker would choose another port at every start.
    .withExposedPorts({ container: 6379, host: port })
    .withWaitStrategy(Wait.forLogMessage('Ready to accept connections'))
    .start();
  const id = container.getId();
  return {
    url: `redis://127.0.0.1:${port}/0`,
    kill: () => docker('kill', id),
    start: () => docker('start', id).then(() => responds(port)),
    pause: () => docker('pause', id),
    resume: () => docker('unpause', id).then(() => {}),
    async stop() {
      await docker('rm', '--force', '--volumes', id);
    },
  };
}

/** Whether this machine has Valkey. */
export const hasValkey = spawnSync('valkey-server', ['--version']).status === 0;

const starter =
  (program: string) =>
  async (configuration: string, ...options: string[]) => {
    const port = await freePort();
    const data = await mkdtemp(join(tmpdir(), 'longhand-redis-'));
    let server: ChildProcess;
    const redis: TestRedis = {
      url: `redis://127.0.0.1:${port}/0`,
      kill() {
        server.kill('SIGKILL');
        return once(server, 'exit');
      },
      async start() {
        const where = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', data];
        server = spawn(program, [configuration, ...where, ...options], { stdio: 'ignore' });
        await Promise.race([
          responds(port),
          once(server, 'error').then(([error]) => Promise.reject(error)),
          once(server, 'exit').then(([code]) => Promise.reject(new Error(`${program} ended with ${code}`))),
        ]);
      },
      pause: async () => server.kill('SIGSTOP'),
      resume: async () => void server.kill('SIGCONT'),
      async stop() {
        if (server.exitCode === null && server.signalCode === null) await redis.kill();
        await rm(data, { recursive: true, force: true });
      },
    };
    await redis.start();
    return redis;
  };

/** Like `startRedis`, but always starts a process, which takes a tenth of the time. */
export const startRedisProcess = starter('redis-server');

/** Like `startRedisProcess`, for Valkey. */
export const startValkeyProcess = starter('valkey-server');

/** Resolves once Redis on `port` replies to PING. */
async function responds(port: number): Promise<void> {
  const { Redis } = await import('ioredis');
  const probe = new Redis(port, '127.0.0.1', { retryStrategy: () => 20, maxRetriesPerRequest: null });
  probe.on('error', () => {});
  try {
    await probe.ping();
  } finally {
    probe.disconnect();
  }
}
