import { join } from 'node:path';
import type { ProcessOptions } from './supervisor.ts';

const root = join(import.meta.dirname, '..', '..');
const host = '127.0.0.1';

/** What all processes of a stack have in common. */
export interface StackContext {
  /** Absolute; each process has a folder of its name in it. */
  folder: string;
  env: NodeJS.ProcessEnv;
  /** Called with each line of output and the name of its process. */
  onLine(process: string, line: string): void;
}

/** Where a service, its operations endpoints and its Redis listen. */
export interface ServicePorts {
  service: number;
  operations: number;
  redis: number;
}

/** A Redis with the configuration of `application`. */
export const redis = (
  name: string,
  application: string,
  port: number,
  { folder, env, onLine }: StackContext,
): ProcessOptions => ({
  name,
  command: 'redis-server',
  args: [
    join(root, application, 'redis.conf'),
    ...['--bind', host, '--port', `${port}`, '--dir', join(folder, name), '--loglevel', 'warning'],
  ],
  env,
  host,
  port,
  stopSignal: 'SIGTERM',
  orphanSignal: 'KILL',
  onLine: (line) => onLine(name, line),
});

/** The expander or tasks. */
export const service = (
  name: string,
  ports: ServicePorts,
  { env, onLine }: StackContext,
): ProcessOptions => ({
  name,
  command: process.execPath,
  args: [join(root, name, 'src', 'main.ts')],
  env: {
    ...env,
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
  onLine: (line) => onLine(name, line),
});

/** nginx with the configuration in `proxy/` of the stack's folder. */
export const proxy = (
  listen: { host: string; port: number },
  { folder, env, onLine }: StackContext,
): ProcessOptions => {
  const prefix = join(folder, 'proxy');
  // Root's nginx would run its workers as another user, who may not have access to this folder.
  const user = process.getuid?.() === 0 ? ' user root;' : '';
  return {
    name: 'proxy',
    command: 'nginx',
    args: ['-p', prefix, '-e', 'stderr', '-c', join(prefix, 'nginx.conf'), '-g', `daemon off;${user}`],
    env,
    ...listen,
    stopSignal: 'SIGQUIT',
    orphanSignal: 'TERM',
    fifo: join(prefix, 'stdout'),
    onLine: (line) => onLine('proxy', line),
  };
};
