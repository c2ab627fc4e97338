import { join } from 'node:path';
import type { PartOptions } from './part.ts';

const root = join(import.meta.dirname, '..', '..');
const host = '127.0.0.1';

/** What all parts share. */
export interface Surroundings {
  /** Absolute; each part has a folder of its name in it. */
  folder: string;
  env: NodeJS.ProcessEnv;
  write(part: string, line: string): void;
}

/** Where a service and its operations endpoints listen, and its Redis. */
export interface ServicePorts {
  service: number;
  operations: number;
  redis: number;
}

/** A Redis with the configuration file of an application. */
export const redis = (
  name: string,
  application: string,
  port: number,
  around: Surroundings,
): PartOptions => ({
  name,
  command: 'redis-server',
  args: [
    join(root, application, 'redis.conf'),
    ...['--bind', host, '--port', `${port}`, '--dir', join(around.folder, name), '--loglevel', 'warning'],
  ],
  env: around.env,
  host,
  port,
  stopSignal: 'SIGTERM',
  orphanSignal: 'KILL',
  write: (line) => around.write(name, line),
});

/** One of the services of this repository. */
export const service = (name: string, ports: ServicePorts, around: Surroundings): PartOptions => ({
  name,
  command: process.execPath,
  args: [join(root, name, 'src', 'main.ts')],
  env: {
    ...around.env,
    HOST: host,
    PORT: `${ports.service}`,
    OPS_HOST: host,
    OPS_PORT: `${ports.operations}`,
    REDIS_URL: `redis://${host}:${ports.redis}/0`,
  },
  host,
  port: ports.service,
  stopSignal: 'SIGTERM',
  orphanSignal: 'KILL',
  write: (line) => around.write(name, line),
});

/** nginx with the configuration in the part's folder. */
export const proxy = (listen: { host: string; port: number }, around: Surroundings): PartOptions => {
  const prefix = join(around.folder, 'proxy');
  // Started as root, nginx would give its workers another user, who may not be allowed to see this folder.
  const user = process.getuid?.() === 0 ? ' user root;' : '';
  return {
    name: 'proxy',
    command: 'nginx',
    args: ['-p', prefix, '-e', 'stderr', '-c', join(prefix, 'nginx.conf'), '-g', `daemon off;${user}`],
    env: around.env,
    ...listen,
    stopSignal: 'SIGQUIT',
    orphanSignal: 'TERM',
    fifo: join(prefix, 'stdout'),
    write: (line) => around.write('proxy', line),
  };
};
