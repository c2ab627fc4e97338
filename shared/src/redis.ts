import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { Log } from './log.ts';

/** Milliseconds before the next attempt to connect: soon at first, then once a second. */
const retryStrategy = (attempt: number) => Math.min(50 * attempt, 1_000);

/**
 * A client for a cache: it fails at once where Redis is away and within 250 ms where Redis hangs, because
 * a miss is cheaper than waiting. It connects by itself, now and after every loss.
 */
export function cacheClient(url: string, log: Log, password = ''): Redis {
  return client(url, log, {
    ...credentials(password),
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: 250,
  });
}

/** A store is one Redis or a Redis Cluster. */
export type StoreClient = Redis | Cluster;

/**
 * A client for a store: a command waits for one attempt to reconnect and for an answer at most 1 s, and
 * is never sent a second time by itself, so that a write happens once or fails.
 *
 * @param url `redis+cluster://` with any node of it for a Redis Cluster.
 */
export function storeClient(url: string, log: Log, password = ''): StoreClient {
  const options = {
    ...credentials(password),
    maxRetriesPerRequest: 1,
    commandTimeout: 1_000,
    autoResendUnfulfilledCommands: false,
  };
  if (url.startsWith('redis+cluster:')) return clusterClient(url.replace('+cluster', ''), log, options);
  return client(url, log, options);
}

/** An empty password leaves the one in the URL alone. */
const credentials = (password: string) => (password === '' ? {} : { password });

function client(url: string, log: Log, options: RedisOptions): Redis {
  const path = /^unix:(?:\/\/)?(.+)/.exec(url)?.[1];
  const settings = { ...options, ...connection, retryStrategy };
  const redis = path === undefined ? new Redis(url, settings) : new Redis({ path, ...settings });
  return logged(redis, log, path ?? `${redis.options.host}:${redis.options.port}`);
}

function clusterClient(url: string, log: Log, options: RedisOptions): Cluster {
  const redis = new Cluster([url], {
    redisOptions: { ...options, ...connection },
    clusterRetryStrategy: retryStrategy,
    clusterNodeRetryStrategy: retryStrategy,
    enableAutoPipelining: true,
    // As with one Redis: fail soon, and never send a command again that may have been carried out.
    enableOfflineQueue: false,
    retryDelayOnFailover: 0,
  });
  return logged(redis, log, new URL(url).host);
}

const connection = {
  connectTimeout: 1_000,
  // Commands issued in one turn of the event loop travel together: a fifth of the CPU per command in Redis.
  enableAutoPipelining: true,
};

/** Says in one line when it goes and in one when it is back; not in one for each attempt. */
function logged<Client extends StoreClient>(redis: Client, log: Log, address: string): Client {
  const events: StoreClient = redis;
  let away = false;
  events.on('error', (error: Error) => {
    if (!away) log.warn({ redis: address, err: error }, 'redis is away');
    away = true;
  });
  events.on('ready', () => {
    log.info({ redis: address }, away ? 'redis is back' : 'redis is connected');
    away = false;
  });
  return redis;
}

/** Resolves once `redis` is ready for commands, or after `milliseconds` without it. */
export async function connected(redis: StoreClient, milliseconds: number): Promise<void> {
  if (redis.status === 'ready') return;
  const { promise, resolve } = Promise.withResolvers<void>();
  redis.once('ready', resolve);
  const timer = setTimeout(resolve, milliseconds);
  await promise;
  clearTimeout(timer);
  redis.off('ready', resolve);
}
