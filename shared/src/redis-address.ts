import { z } from 'zod';
import { secretFile, socketPath } from './env.ts';

/** Where a Redis is, as its URL says. */
export interface RedisAddress {
  /** One server, or a primary that Sentinels name. */
  form: 'one' | 'sentinel';
  /** The server, or the Sentinels. */
  nodes: { host: string; port: number }[];
  /** The Unix socket of a server; then there are no nodes. */
  path?: string;
  tls: boolean;
  username?: string;
  password?: string;
  /** The name by which the Sentinels know the primary. */
  name?: string;
  database: number;
}

const pattern =
  /^(?<scheme>rediss?)(?:\+(?<form>sentinel))?:\/\/(?:(?<user>[^:@/]*)(?::(?<password>[^@/]*))?@)?(?<nodes>[^/?#@]+)(?:\/(?<path>[^/?#]*))?(?:\?db=(?<db>\d{1,4}))?$/;

const standardPorts = { one: 6379, sentinel: 26379 };

/**
 * Reads `redis://[user:password@]host[:port][/database]`, `redis+sentinel://sentinel[:port][,…]/name[?db=database]`,
 * each with `rediss` for TLS, or `unix:` and the path of a Unix socket.
 *
 * @throws Error that says what is wrong, as the end of a sentence that begins with the URL.
 */
export function redisAddress(url: string): RedisAddress {
  const socket = /^unix:(?:\/\/)?(.+)/.exec(url)?.[1];
  if (socket !== undefined) {
    const path = socketPath.safeParse(socket);
    if (!path.success) throw new Error(path.error.issues[0]?.message);
    return { form: 'one', nodes: [], path: socket, tls: false, database: 0 };
  }
  const parts = pattern.exec(url)?.groups;
  if (!parts) {
    if (/^rediss?\+cluster:/.test(url)) {
      throw new Error('names a Redis Cluster, which is not supported: use one server or redis+sentinel://');
    }
    throw new Error('is not a redis://, redis+sentinel:// (rediss for TLS) or unix: URL');
  }
  const form = (parts.form ?? 'one') as RedisAddress['form'];
  const nodes = (parts.nodes as string).split(',').map((node) => hostAndPort(node, standardPorts[form]));
  const path = parts.path || undefined;
  const database = Number((form === 'sentinel' ? parts.db : (parts.db ?? path)) ?? 0);
  if (!Number.isInteger(database)) throw new Error('names a database that is not a number');
  if (form === 'one' && nodes.length > 1) throw new Error('names several servers: say redis+sentinel://');
  if (form === 'sentinel' && !path)
    throw new Error('does not name the primary, as in redis+sentinel://host/tasks');
  return {
    form,
    nodes,
    tls: parts.scheme === 'rediss',
    ...(parts.user && { username: decodeURIComponent(parts.user) }),
    ...(parts.password && { password: decodeURIComponent(parts.password) }),
    ...(form === 'sentinel' && { name: decodeURIComponent(path as string) }),
    database,
  };
}

function hostAndPort(node: string, standardPort: number): { host: string; port: number } {
  // With this scheme the parser of URLs takes any host and port.
  const url = `redis://${node}`;
  if (!URL.canParse(url) || new URL(url).hostname === '')
    throw new Error(`names ${node}, which is not a host and port`);
  const { hostname, port } = new URL(url);
  return {
    host: decodeURIComponent(hostname).replace(/^\[(.*)\]$/, '$1'),
    port: Number(port || standardPort),
  };
}

const redisUrl = z.string().superRefine((url, { addIssue }) => {
  try {
    redisAddress(url);
  } catch (error) {
    addIssue((error as Error).message);
  }
});

/** The variables of a service's Redis. Secrets are in files, where no other process sees them. */
export const redisVariables = {
  REDIS_URL: redisUrl.default('redis://127.0.0.1:6379/0'),
  REDIS_USER_FILE: secretFile,
  REDIS_PASSWORD_FILE: secretFile,
  /** For the Sentinels, which have users of their own. */
  REDIS_SENTINEL_USER_FILE: secretFile,
  REDIS_SENTINEL_PASSWORD_FILE: secretFile,
  /** For TLS: the authority that signed the server's certificate, and a certificate of ours with its key. */
  REDIS_CA_FILE: secretFile,
  REDIS_CERT_FILE: secretFile,
  REDIS_KEY_FILE: secretFile,
};

/** What `redisVariables` read. */
export type RedisConfig = z.output<z.ZodObject<typeof redisVariables>>;
