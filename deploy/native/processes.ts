import { join, resolve } from 'node:path';
import { acceptsConnections } from '@longhand/shared/listen.ts';
import type { Account } from './privileges.ts';
import { answersGet, answersPing } from './probes.ts';
import type { ProcessSpec } from './supervisor.ts';

const root = join(import.meta.dirname, '..', '..');

/** PATH with the folders of Debian's nginx, which users other than root may not have. */
export const searchPath = (env: NodeJS.ProcessEnv) => `${env.PATH}:/usr/local/sbin:/usr/sbin`;

/** The path of a Unix socket, from the stack's folder. */
export const socketPath = (name: string) => join('run', `${name}.sock`);

/** A Redis with the configuration of `application`, and data in the folder of its name in `folder`. */
export const redis = (name: string, application: string, folder: string): ProcessSpec => ({
  name,
  command: 'sh',
  args: [
    // On standard input, because Redis takes characters such as [ in a path for a pattern.
    ...['-c', 'exec redis-server - "$@" <"$0"', join(root, application, 'redis.conf')],
    ...['--dir', name, '--loglevel', 'warning'],
    // Relative to --dir.
    ...['--port', '0', '--unixsocket', join('..', socketPath(name)), '--unixsocketperm', '700'],
  ],
  ready: answersPing(join(folder, socketPath(name))),
  quietStart: true,
  explainExit: (lines) => explain(lines, resolve(folder, name, 'appendonlydir')),
});

/** Redis's messages about damaged data. */
const damage =
  /(Bad file format|Unexpected end of file) reading|Wrong RDB checksum|error in RDB reading|MANIFEST FILE ERROR|Unable to obtain the AOF/;

/** @param data the folder of the append-only file. */
function explain(lastLines: readonly string[], data: string): string | undefined {
  if (lastLines.some((line) => line.includes('No space left on device'))) {
    return `The disk of ${data} is full: tasks can be read, but nothing can be saved until there is room.`;
  }
  if (lastLines.some((line) => line.includes("Can't handle RDB format version"))) {
    return (
      `The saved data in ${data} was written by a newer Redis than this one: start with that version, ` +
      'or restore a backup that this one made: make restore FILE=…'
    );
  }
  if (!lastLines.some((line) => damage.test(line))) return undefined;
  const manifest = join(data, 'appendonly.aof.manifest');
  return (
    `The saved data cannot be read: a file in ${data} is damaged or missing. ` +
    `Make a copy of that folder, then run: redis-check-aof --fix ${quote(manifest)}`
  );
}

const quote = (path: string) => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);

/** The expander's settings for DNS, as in its image, unless the environment has others. */
const resolver = {
  UV_THREADPOOL_SIZE: process.env.UV_THREADPOOL_SIZE ?? '128',
  RES_OPTIONS: process.env.RES_OPTIONS ?? 'timeout:1 attempts:2',
};

/**
 * The expander or tasks.
 *
 * @param replica names its sockets: `tasks`, `tasks-2`.
 */
export const service = (name: string, replica: string, redis: string, folder: string): ProcessSpec => ({
  name,
  // Kills it when it hangs; then the supervisor restarts it.
  command: join(root, 'deploy', 'compose', 'watched.sh'),
  args: [name, process.execPath, join(root, name, 'src', 'main.ts')],
  env: {
    ...(name === 'expander' && resolver),
    SOCKET_PATH: socketPath(replica),
    OPS_SOCKET_PATH: socketPath(`${replica}-ops`),
    REDIS_URL: `unix:${socketPath(redis)}`,
    REDIS_PASSWORD_FILE: '',
  },
  ready: answersGet({ socketPath: join(folder, socketPath(`${replica}-ops`)), path: '/livez' }),
});

/**
 * nginx with the configuration in the folder `proxy`.
 *
 * @param host an address that it listens on, among others.
 * @param ports of which the first is open once it is ready.
 */
export function proxy(host: string, ports: readonly number[], account?: Account): ProcessSpec {
  // Started as root, nginx runs its workers as a user without access to the sockets.
  const user = process.getuid?.() === 0 && !account ? ' user root;' : '';
  return {
    name: 'proxy',
    command: 'nginx',
    // Relative, because nginx takes characters such as [ in a path for a pattern.
    args: ['-p', 'proxy/', '-e', 'stderr', '-c', 'nginx.conf', '-g', `daemon off;${user}`],
    ready: () => acceptsConnections({ host, port: ports[0] ?? 0 }),
    lowPorts: ports.some((port) => port < 1_024),
    stopSignal: 'SIGQUIT',
    orphanSignal: 'TERM',
  };
}
