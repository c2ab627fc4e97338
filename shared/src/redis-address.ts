import { z } from 'zod';
import { secretFile } from './env.ts';

type Node = { host: string; port: number };

/** ioredis options that connect to a server, a Unix socket, or a primary monitored by Sentinels. */
export type RedisAddress = (Node | { path: string } | { sentinels: Node[]; name: string }) & {
  db: number;
  username?: string;
  password?: string;
  tls?: object;
};

const pattern =
  /^(?<scheme>rediss?)(?:\+(?<form>sentinel))?:\/\/(?:(?<user>[^:@/]*)(?::(?<password>[^@/]*))?@)?(?<nodes>[^/?#@]+)(?:\/(?<path>[^/?#]*))?(?:\?db=(?<db>\d{1,4}))?$/;

/**
 * Reads `redis://[user:password@]host[:port][/database]`, `redis+sentinel://sentinel[:port][,…]/name[?db=database]`, or `unix:`
 * and the path of a Unix socket. `rediss` in place of `redis` uses TLS.
 *
 * @throws Error with a message to append to the URL, such as "is not a redis:// URL"
 */
export function redisAddress(url: string): RedisAddress {
  const [, socket] = /^unix:(?:\/\/)?(.+)/.exec(url) ?? [];
  if (socket !== undefined) return { path: socket, db: 0 };
  const parts = pattern.exec(url)?.groups;
  if (!parts) throw new Error('is not a redis://, redis+sentinel:// (rediss for TLS) or unix: URL');
  const { scheme, form, user, password, nodes = '', path } = parts;
  const [first, ...others] = nodes.split(',').map((node) => hostAndPort(node, form ? 26379 : 6379)) as [Node];
  if (!form && others.length > 0) throw new Error('has several servers, which need redis+sentinel://');
  if (form && !path) throw new Error("lacks the primary's name, as in redis+sentinel://host/tasks");
  const db = Number(parts.db ?? (form ? 0 : path || 0));
  if (!Number.isInteger(db)) throw new Error('has a database that is not a number');
  return {
    ...(form && path ? { sentinels: [first, ...others], name: decodeURIComponent(path) } : first),
    db,
    ...(user && { username: decodeURIComponent(user) }),
    ...(password && { password: decodeURIComponent(password) }),
    ...(scheme === 'rediss' && { tls: {} }),
  };
}

function hostAndPort(node: string, standardPort: number): Node {
  const url = URL.parse(`redis://${node}`);
  if (!url?.hostname) throw new Error(`has an invalid server address: ${node}`);
  const host = decodeURIComponent(url.hostname).replace(/^\[(.*)\]$/, '$1');
  return { host, port: Number(url.port || standardPort) };
}

const redisUrl = z.string().superRefine((url, { addIssue }) => {
  try {
    redisAddress(url);
  } catch (error) {
    addIssue((error as Error).message);
  }
});

/** Secrets are in files, because other processes may be able to read the environment. */
export const redisVariables = {
  REDIS_URL: redisUrl.default('redis://127.0.0.1:6379/0'),
  REDIS_USER_FILE: secretFile,
  REDIS_PASSWORD_FILE: secretFile,
  /** Sentinels have their own users. */
  REDIS_SENTINEL_USER_FILE: secretFile,
  REDIS_SENTINEL_PASSWORD_FILE: secretFile,
  /** The CA of the server's certificate, and the client's certificate with its key. */
  REDIS_CA_FILE: secretFile,
  REDIS_CERT_FILE: secretFile,
  REDIS_KEY_FILE: secretFile,
};

export type RedisConfig = z.output<z.ZodObject<typeof redisVariables>>;
