import { listenAddresses, readOrExit } from '@longhand/shared/env.ts';
import { createLog } from '@longhand/shared/log.ts';
import { requestSinks } from '@longhand/shared/notable-requests.ts';
import { createObserver } from '@longhand/shared/observe.ts';
import { createMetrics, operations } from '@longhand/shared/operations.ts';
import { cacheClient } from '@longhand/shared/redis.ts';
import { redisState } from '@longhand/shared/redis-operations.ts';
import { serveOrExit } from '@longhand/shared/serve.ts';
import { stopSignal } from '@longhand/shared/stop.ts';
import manifest from '../package.json' with { type: 'json' };
import { readConfig } from './config.ts';
import { createExpander } from './expander.ts';
import { setUpResolver } from './guard/resolver.ts';
import { baseHeaders } from './web/responses.ts';

setUpResolver();

const config = readOrExit(readConfig);
const address = listenAddresses(config);
const log = createLog('expander', config.LOG_LEVEL);
const metrics = createMetrics('expander', manifest.version);
const requests = await requestSinks('expander', log, config.OTEL_EXPORTER_OTLP_ENDPOINT);
const redis = cacheClient(config, log);
redisState(metrics, () => redis.ping());
const expander = createExpander(config, { redis, log, metrics });

const fault = new AbortController();
const stop = AbortSignal.any([stopSignal(), fault.signal]);
// Nobody knows what is broken now: it answers what is under way and ends, to be started anew.
for (const name of ['unhandledRejection', 'uncaughtException'] as const) {
  process.on(name, (err) => {
    log.fatal({ err }, 'a fault of the expander; it stops');
    process.exitCode = 1;
    fault.abort();
  });
}
const stopOperations = new AbortController();
// Redis away is a slower expander, not an unready one.
const ready = async () => {
  if (stop.aborted) throw new Error('draining');
};

const service = await serveOrExit(expander.app, {
  ...address.service,
  signal: stop,
  observer: createObserver('expander', log, metrics, requests.observed),
  serverTiming: config.LONGHAND_SERVER_TIMING === 'on',
  clientErrorHeaders: baseHeaders,
});
const ops = await serveOrExit(operations(ready, metrics, requests.notable), {
  ...address.operations,
  signal: stopOperations.signal,
});
log.info({ url: service.url, operations: ops.url }, 'listening');

await service.closed;
// Told by its operations endpoints until the last answer is out.
stopOperations.abort();
expander.close();
redis.disconnect();
await requests.flush();
log.info('stopped');
await log.close();
// A look-up that nobody waits for any more would keep the process for seconds.
process.exit();
