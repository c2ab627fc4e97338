import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '@longhand/shared/testing/free-port.ts';
import { Redis } from 'ioredis';
import { configuration } from './store.ts';

/** Milliseconds after which a Sentinel takes a primary for down. */
const downAfter = 1_000;

const names = ['primary', 'replica1', 'replica2', 'sentinel1', 'sentinel2', 'sentinel3'] as const;
type Name = (typeof names)[number];

/** What a test that failed left running ends with the tests. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** A primary, two replicas and three Sentinels, each a process of its own. */
export interface SentinelRedis {
  /** The Sentinels' URL, for `REDIS_URL`. */
  readonly url: string;
  signal(name: Name, signal: NodeJS.Signals): void;
  /** Resolves once the primary has this many replicas that are up to date. */
  replicated(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** @param options of each server, as in a configuration file. */
export async function startSentinelRedis(...options: string[]): Promise<SentinelRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'longhand-sentinel-'));
  const ports = await freePorts(...names);
  const processes = new Map<Name, ChildProcess>();
  const start = async (name: Name, lines: string[], mode: string[]) => {
    const file = join(folder, `${name}.conf`);
    const where = [`port ${ports[name]}`, 'bind 127.0.0.1', 'protected-mode no', `dir ${folder}`];
    await writeFile(file, [...lines, ...where].join('\n'));
    const server = spawn('redis-server', [file, ...mode], { stdio: 'ignore' });
    processes.set(name, server);
    running.add(server.once('exit', () => running.delete(server)));
  };
  for (const name of names.slice(0, 3)) {
    const of = name === 'primary' ? [] : [`replicaof 127.0.0.1 ${ports.primary}`];
    const files = [`appenddirname ${name}`, `dbfilename ${name}.rdb`, 'repl-diskless-sync-delay 0'];
    await start(name, [`include ${configuration}`, ...files, ...of, ...options], []);
  }
  for (const name of names.slice(3)) {
    const monitored = `sentinel monitor tasks 127.0.0.1 ${ports.primary} 2`;
    const times = [`down-after-milliseconds tasks ${downAfter}`, 'failover-timeout tasks 5000'];
    await start(name, [monitored, ...times.map((time) => `sentinel ${time}`)], ['--sentinel']);
  }
  const ask = async <Answer>(name: Name, question: (redis: Redis) => Promise<Answer>) => {
    const redis = new Redis(ports[name], '127.0.0.1', {
      retryStrategy: () => 20,
      maxRetriesPerRequest: null,
    });
    redis.on('error', () => {});
    try {
      return await question(redis);
    } finally {
      redis.disconnect();
    }
  };
  const until = async (holds: () => Promise<boolean>) => {
    while (!(await holds())) await sleep(20);
  };
  const replicated = (count: number) =>
    ask('primary', (redis) =>
      until(async () => [...(await redis.info('replication')).matchAll(/state=online/g)].length >= count),
    );
  await replicated(2);
  for (const name of names.slice(3)) {
    await ask(name, (redis) =>
      until(async () => {
        const info = await redis.info('sentinel');
        return info.includes('status=ok') && info.includes('slaves=2,sentinels=3');
      }),
    );
  }
  return {
    url: `redis+sentinel://${names
      .slice(3)
      .map((name) => `127.0.0.1:${ports[name]}`)
      .join(',')}/tasks`,
    signal: (name, signal) => void processes.get(name)?.kill(signal),
    replicated,
    async stop() {
      const left = [...processes.values()].filter((child) => running.has(child));
      await Promise.all(
        left.map((child) => {
          child.kill('SIGKILL');
          return once(child, 'exit');
        }),
      );
      await rm(folder, { recursive: true, force: true });
    },
  };
}
