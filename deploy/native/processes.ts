import { join } from 'node:path';
import type { ProcessSpec } from './supervisor.ts';

const root = join(import.meta.dirname, '..', '..');
const host = '127.0.0.1';

/** Where a service, its operations endpoints and its Redis listen. */
export interface ServicePorts {
  service: number;
  operations: number;
  redis: number;
}

/** A Redis with the configuration of `application` and data in `folder`. */
export const redis = (name: string, application: string, port: number, folder: string): ProcessSpec => ({
  name,
  command: 'redis-server',
  args: [
    join(root, application, 'redis.conf'),
    ...['--bind', host, '--port', `${port}`, '--dir', folder, '--loglevel', 'warning'],
  ],
  host,
  port,
});

/** The expander or tasks. */
export const service = (name: string, ports: ServicePorts): ProcessSpec => ({
  name,
  command: process.execPath,
  args: [join(root, name, 'src', 'main.ts')],
  env: {
    HOST: host,
    PORT: `${ports.service}`,
    OPS_HOST: host,
    OPS_PORT: `${ports.operations}`,
    REDIS_URL: `redis://${host}:${ports.redis}/0`,
  },
  host,
  port: ports.service,
});

/** nginx with the configuration in the folder `prefix`. */
export const proxy = (prefix: string, listen: { host: string; port: number }): ProcessSpec => {
  // Root's nginx would run its workers as another user, who may not have access to this folder.
  const user = process.getuid?.() === 0 ? ' user root;' : '';
  return {
    name: 'proxy',
    command: 'nginx',
    args: ['-p', prefix, '-e', 'stderr', '-c', join(prefix, 'nginx.conf'), '-g', `daemon off;${user}`],
    ...listen,
    stopSignal: 'SIGQUIT',
    orphanSignal: 'TERM',
    fifo: join(prefix, 'stdout'),
  };
};
