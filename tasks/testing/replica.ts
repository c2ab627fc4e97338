import { createObserver } from '@longhand/shared/observe.ts';
import { createMetrics } from '@longhand/shared/operations.ts';
import { storeClient } from '@longhand/shared/redis.ts';
import { serve } from '@longhand/shared/serve.ts';
import { logged } from '@longhand/shared/testing/logged.ts';
import { afterAll, beforeAll } from 'vitest';
import { redisChanges } from '../src/redis/changes.ts';
import { csrfKey } from '../src/redis/csrf-key.ts';
import { redisStore } from '../src/redis/store.ts';
import { csrf } from '../src/web/csrf.ts';
import type { Dependencies } from '../src/web/dependencies.ts';
import { testApp } from './app.ts';
import { useStore } from './store.ts';

export type Replica = Awaited<ReturnType<typeof startReplica>>;

/**
 * Starts the service in this process, on `port` (by default a free port), 100 times as fast as `startService`. The
 * replica uses the Redis server at `redisUrl` and the dependencies in `given`.
 */
export async function startReplica(redisUrl: string, given: Partial<Dependencies> = {}, port = 0) {
  const end = new AbortController();
  const { signal } = end;
  const { lines, log } = logged();
  const redis = storeClient({ REDIS_URL: redisUrl }, log);
  const own = { changes: redisChanges(redis, signal), csrf: csrf(csrfKey(redis)), signal, log };
  const app = testApp(redisStore(redis), { ...own, ...given });
  const observer = createObserver(log, createMetrics('tasks', '0.0.0'));
  const { url, closed } = await serve(app, { host: '127.0.0.1', port, signal, observer });
  return {
    url,
    log: lines,
    /** Stops the service as SIGTERM does, and resolves once the last connection is closed. */
    async stop(): Promise<void> {
      end.abort();
      await closed;
      redis.disconnect();
    },
  };
}

/** Starts a replica with its own store for all tests of a file. Each test starts with an empty store. */
export function useReplica() {
  const kept = useStore() as ReturnType<typeof useStore> & { service: Replica };
  beforeAll(async () => {
    kept.service = await startReplica(kept.url);
  });
  afterAll(() => void kept.service.stop());
  return kept;
}
