import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, copyFileSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import type { Account } from '../native/privileges.ts';
import { answersGet } from '../native/probes.ts';
import type { ProcessSpec } from '../native/process-spec.ts';
import { type SupervisedProcess, supervise } from '../native/supervisor.ts';
import { startBridge } from './bridge.ts';
import { prometheusConfiguration } from './scrape.ts';

export interface ObserveOptions {
  /** The folder of a native stack, as a path that is short enough for its sockets. */
  folder: string;
  /** The port of Prometheus on 127.0.0.1; 0 is a free one. */
  port: number;
  /** The path of the rules; those beside this file by default. */
  rules?: string;
  /** Seconds between two scrapes, 5 by default. */
  interval?: number;
  onLine(process: string, line: string): void;
}

export interface Observing {
  /** Of Prometheus, without a slash at the end. */
  url: string;
  stop(): Promise<void>;
}

/**
 * Observes a native stack with Debian's Prometheus and, where it is installed, redis_exporter. What Prometheus keeps is
 * in the folder `prometheus` of the stack.
 */
export async function observeStack(options: ObserveOptions): Promise<Observing> {
  const { folder, rules = join(import.meta.dirname, 'rules.yml'), interval = 5, onLine } = options;
  const data = join(folder, 'prometheus');
  mkdirSync(data, { recursive: true, mode: 0o700 });
  const account = accountOf(folder);
  const bridge = await startBridge(folder);
  const port = options.port || (await freePort());
  const context = { folder, env: process.env, account, onLine };
  const processes: SupervisedProcess[] = [];
  const stop = async () => {
    for (const running of processes.reverse()) await running.stop();
    bridge.close();
  };
  try {
    const hasExporter = !spawnSync('prometheus-redis-exporter', ['--version']).error;
    const exporter = hasExporter ? await freePort() : undefined;
    if (exporter) processes.push(await supervise(redisExporter(exporter), context));
    copyFileSync(rules, join(data, 'rules.yml'));
    const scrape = {
      bridge: `127.0.0.1:${bridge.port}`,
      redisExporter: exporter ? `127.0.0.1:${exporter}` : undefined,
      interval,
    };
    writeFileSync(join(data, 'prometheus.yml'), prometheusConfiguration(scrape));
    if (account)
      for (const file of ['', 'rules.yml', 'prometheus.yml'])
        chownSync(join(data, file), account.uid, account.gid);
    processes.push(await supervise(prometheus(port), context));
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `http://127.0.0.1:${port}`, stop };
}

/** The account of the stack's processes, where root has started them and they are not root's. */
function accountOf(folder: string): Account | undefined {
  const { uid, gid } = statSync(join(folder, 'run'));
  return process.getuid?.() === 0 && uid !== 0 ? { uid, gid } : undefined;
}

const prometheus = (port: number): ProcessSpec => ({
  name: 'prometheus',
  command: 'prometheus',
  args: [
    '--config.file=prometheus/prometheus.yml',
    '--storage.tsdb.path=prometheus/data',
    '--storage.tsdb.retention.time=15d',
    // For k6, which writes its own figures there.
    '--web.enable-remote-write-receiver',
    `--web.listen-address=127.0.0.1:${port}`,
    '--log.level=warn',
  ],
  ready: answersGet({ port, path: '/-/ready' }),
});

/** Its targets are paths of sockets from the stack's folder, which is its working directory. */
const redisExporter = (port: number): ProcessSpec => ({
  name: 'redis_exporter',
  command: 'prometheus-redis-exporter',
  args: ['--redis.addr=', `--web.listen-address=127.0.0.1:${port}`],
  ready: answersGet({ port, path: '/' }),
  quietStart: true,
});

async function freePort(): Promise<number> {
  await using server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
