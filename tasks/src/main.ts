import { readOrExit } from '@longhand/shared/env.ts';
import { connected, redisState, storeClient, timedOperations } from '@longhand/shared/redis.ts';
import { redisStatistics } from '@longhand/shared/redis-statistics.ts';
import { prepareService } from '@longhand/shared/service.ts';
import { createTurns } from '@longhand/shared/turns.ts';
import { Gauge } from 'prom-client';
import manifest from '../package.json' with { type: 'json' };
import { createApp } from './app.ts';
import { readConfig } from './config.ts';
import { redisChanges } from './redis/changes.ts';
import { csrfKey } from './redis/csrf-key.ts';
import { keys } from './redis/keys.ts';
import { exportBackupTime, watchStore } from './redis/settings.ts';
import { redisStore } from './redis/store.ts';
import { rereadAuth } from './reread-auth.ts';
import { cookies } from './web/cookies.ts';
import { csrf } from './web/csrf.ts';
import { noStore, securityHeaders } from './web/responses.ts';
import { publicFiles } from './web/static-files.ts';
import { views } from './web/views.ts';

// The image build runs this file without a configuration, to fill the compile cache.
const files = publicFiles(`${import.meta.dirname}/../public`);
const config = await readOrExit(readConfig);
const { log, metrics, signal, run } = prepareService('tasks', manifest.version, config);

const redis = storeClient(config, log);
watchStore(redis, log);
exportBackupTime(redis, metrics);
const timed = timedOperations(metrics);
const render = views(`${import.meta.dirname}/../views`, files, (err) =>
  log.error({ err }, 'a page was rendered with a missing value'),
);
const key = csrfKey(redis, timed);
const app = createApp({
  store: redisStore(redis, { timed, replicas: config.TASKS_WAIT_REPLICAS }),
  csrf: csrf(key),
  cookies: cookies(key),
  auth: rereadAuth(process.env, { key, log }),
  render,
  changes: redisChanges(redis, signal),
  signal,
  files,
  now: () => new Date(),
  log,
  eventStreams: new Gauge({ name: 'tasks_event_streams', help: 'Open event streams.', registers: [metrics] }),
  turns: createTurns(),
});

const ping = () => redis.exists(keys.version);
redisState(metrics, ping);
redisStatistics(metrics, () => redis.info());

// Wait up to 2 s for Redis before listening.
await connected(redis, 2_000);
await run(app, { ready: ping, clientErrorHeaders: { ...securityHeaders, ...noStore }, problems: true });
