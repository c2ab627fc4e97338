import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { acceptsConnections } from '@longhand/shared/listen.ts';
import type { ProcessSpec } from './supervisor.ts';

const root = join(import.meta.dirname, '..', '..');

/** PATH plus the folder of Debian's nginx, which by default is only in root's PATH. */
export const searchPath = (env: NodeJS.ProcessEnv) => `${env.PATH}:/usr/local/sbin:/usr/sbin`;

const socketPath = (name: string) => join('run', `${name}.sock`);

/**
 * Returns an upstream's `server` directives. Sets `max_fails=0`, because failed replicas restart at the same address.
 *
 * @param folder the stack's folder, by default nginx's working folder.
 */
export const upstreamServers = (replicas: readonly string[], folder = '') =>
  replicas.map((replica) => `unix:${join(folder, socketPath(replica))} max_fails=0`).join('; server ');

/** Redis with the configuration for `application`. The server's data folder is `name` in `folder`. */
export const redis = (name: string, application: string, folder: string): ProcessSpec => ({
  name,
  command: 'sh',
  args: [
    // Pass the configuration on stdin, because Redis treats characters such as [ in a path as a pattern.
    ...['-c', '(cd "$2" && "$0" recover) && conf=$1 && shift && exec redis-server - --dir "$@" <"$conf"'],
    ...[join(root, 'deploy', 'redis', 'redis.sh'), join(root, application, 'redis.conf')],
    ...[name, '--loglevel', 'warning'],
    ...['--port', '0', '--unixsocket', join('..', socketPath(name)), '--unixsocketperm', '700'],
  ],
  ready: answersPing(join(folder, socketPath(name))),
  quietStart: true,
});

/** Checks whether the Redis at the Unix socket `path` responds to PING. Redis refuses PING while it loads its data. */
const answersPing = (path: string) => async () => {
  const socket = connect(path).end('PING\r\nQUIT\r\n');
  socket.setTimeout(3_000, () => socket.destroy());
  const replies = await text(socket).catch(() => '');
  return replies.startsWith('+PONG');
};

/** The expander or tasks. `replica` names its sockets. */
export const service = (name: string, replica: string, redis: string, folder: string): ProcessSpec => ({
  name,
  // watched.sh kills a hung service, and the supervisor restarts it.
  command: join(root, 'shared', 'src', 'watched.sh'),
  args: [name, process.execPath, join(root, name, 'src', 'main.ts')],
  env: {
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? resolve(folder, 'compiled'),
    SOCKET_PATH: socketPath(replica),
    OPS_SOCKET_PATH: socketPath(`${replica}-ops`),
    REDIS_URL: `unix:${socketPath(redis)}`,
    REDIS_PASSWORD_FILE: '',
  },
  // The service opens this socket last.
  ready: () => acceptsConnections({ path: join(folder, socketPath(`${replica}-ops`)) }),
});

/** nginx with the configuration in the folder `proxy`. The process is ready once `port` of `host` accepts connections. */
export function proxy(host: string, port: number): ProcessSpec {
  // If started by root, nginx by default runs its workers as a user that cannot open the sockets.
  const user = process.getuid?.() === 0 ? ' user root;' : '';
  return {
    name: 'proxy',
    command: 'nginx',
    // Relative, because nginx treats characters such as [ in a path as a pattern.
    args: ['-p', 'proxy/', '-e', 'stderr', '-c', 'nginx.conf', '-g', `daemon off;${user}`],
    ready: () => acceptsConnections({ host, port }),
    stopSignal: 'SIGQUIT',
    orphanSignal: 'TERM',
  };
}
