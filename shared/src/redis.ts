import { Redis, type RedisOptions, SentinelConnector } from 'ioredis';
import { Gauge, Histogram, type Registry } from 'prom-client';
import { durationBuckets, type Timed, timed, within } from './durations.ts';
import type { Log } from './log.ts';
import { type RedisConfig, redisAddress } from './redis-address.ts';

/** Milliseconds before the next attempt to connect, increasing to 1 s. */
const retryStrategy = (attempt: number) => Math.min(50 * attempt, 1_000);

export type StoreClient = Redis;

/** Redis configuration in which only the URL is required. */
type Access = Pick<RedisConfig, 'REDIS_URL'> & Partial<RedisConfig>;

/** Creates a client for a cache. A command fails immediately while Redis is down, and after 1 s if Redis hangs. */
export function cacheClient(access: Access, log: Log): StoreClient {
  return client(access, log, { enableOfflineQueue: false, maxRetriesPerRequest: 0 });
}

/**
 * Creates a client for a store. A command waits for one reconnection attempt, then at most 1 s for the reply. The client never
 * repeats a command, because the first write may have succeeded.
 */
export function storeClient(access: Access, log: Log): StoreClient {
  return client(access, log, { maxRetriesPerRequest: 1, autoResendUnfulfilledCommands: false });
}

function client(access: Access, log: Log, behaviour: RedisOptions): StoreClient {
  const address = redisAddress(access.REDIS_URL);
  const tls = address.tls && {
    ca: access.REDIS_CA_FILE || undefined,
    cert: access.REDIS_CERT_FILE || undefined,
    key: access.REDIS_KEY_FILE || undefined,
  };
  const options = {
    ...behaviour,
    connectTimeout: 1_000,
    commandTimeout: 1_000,
    retryStrategy,
    // Credentials in the URL override these files. Containers always receive the bundled Redis's password file.
    username: access.REDIS_USER_FILE,
    password: access.REDIS_PASSWORD_FILE,
    ...address,
    tls,
    ...('sentinels' in address && {
      Connector: SteadyConnector,
      sentinelUsername: access.REDIS_SENTINEL_USER_FILE,
      sentinelPassword: access.REDIS_SENTINEL_PASSWORD_FILE,
      sentinelTLS: tls,
      enableTLSForSentinelMode: tls !== undefined,
      sentinelCommandTimeout: 1_000,
      // Disconnects from a replaced primary even if it hangs.
      failoverDetector: true,
    }),
  };
  const redis = new CorkedRedis(options as object);
  logState(redis, log, access.REDIS_URL.replace(/^.*@/, ''));
  return redis;
}

/**
 * Batches all commands of an event loop turn into one write. This reduces Redis's CPU time by 80%. With ioredis's
 * auto-pipelining, later commands would wait for the replies, which wait for an fsync.
 */
class CorkedRedis extends Redis {
  override sendCommand(...args: Parameters<Redis['sendCommand']>) {
    const { stream } = this;
    if (stream?.writableCorked === 0) {
      stream.cork();
      setImmediate(() => stream.uncork());
    }
    return super.sendCommand(...args);
  }
}

/** Ignores announcements of a new primary while connecting. Otherwise ioredis would stop reconnecting for good. */
class SteadyConnector extends SentinelConnector {
  override connect(...args: Parameters<SentinelConnector['connect']>) {
    const detector = Reflect.get(this, 'failoverDetector');
    if (detector) detector.isDisconnected = true;
    return super.connect(...args);
  }
}

/** Logs one line when the connection is lost, and one when it is restored. */
function logState(redis: Redis, log: Log, address: string): void {
  let down = false;
  redis.on('error', (error: Error) => {
    if (!down) log.warn({ redis: address, err: error }, 'redis is down');
    down = true;
  });
  redis.on('ready', () => {
    log.info({ redis: address }, down ? 'redis is back' : 'redis is connected');
    down = false;
  });
}

/** Resolves once `redis` is ready for commands, or after `milliseconds`. */
export async function connected(redis: StoreClient, milliseconds: number): Promise<void> {
  if (redis.status === 'ready') return;
  const ready = new Promise((resolve) => redis.once('ready', resolve));
  await within(milliseconds, ready, undefined);
}

/** Creates a function that times Redis operations, following OpenTelemetry's database conventions (1.44). */
export function timedOperations(metrics: Registry): Timed {
  const durations = new Histogram({
    name: 'db_client_operation_duration_seconds',
    help: 'Time from a Redis operation to its reply, including the wait for a connection.',
    labelNames: ['db_system_name', 'db_operation_name', 'error_type'],
    buckets: durationBuckets,
    registers: [metrics],
  });
  return (operation, run) => timed(durations, { db_system_name: 'redis', db_operation_name: operation }, run);
}

/** Adds a gauge that is 1 if `ping` succeeds, and 0 otherwise. */
export function redisState(metrics: Registry, ping: () => Promise<unknown>): void {
  new Gauge({
    name: 'longhand_redis_up',
    help: 'Whether Redis replies to a ping from this service.',
    registers: [metrics],
    async collect() {
      const [{ status }] = await Promise.allSettled([ping()]);
      this.set(status === 'fulfilled' ? 1 : 0);
    },
  });
}
