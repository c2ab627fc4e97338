import { readOrExit } from '@longhand/shared/env.ts';
import { cacheClient, redisState } from '@longhand/shared/redis.ts';
import { prepareService } from '@longhand/shared/service.ts';
import { stopSignal } from '@longhand/shared/stop.ts';
import manifest from '../package.json' with { type: 'json' };
import { readConfig } from './config.ts';
import { createExpander } from './expander.ts';
import { baseHeaders } from './web/responses.ts';

const config = readOrExit(readConfig);
const { log, metrics, run } = await prepareService('expander', manifest.version, config);
const redis = cacheClient(config, log);
// Redis away is a slower expander, not an unready one.
redisState(metrics, () => redis.ping());
const onMissing = (err: Error) => log.error({ err }, 'the page prints nothing where a value is missing');
const expander = createExpander(config, { redis, log, metrics, onMissing });

const fault = new AbortController();
// After an unexpected error the state is unknown: finish the open requests and exit, to be restarted.
for (const name of ['unhandledRejection', 'uncaughtException'] as const) {
  process.on(name, (err) => {
    log.fatal({ err }, 'unexpected error; shutting down');
    process.exitCode = 1;
    fault.abort();
  });
}

await run(expander.app, {
  signal: AbortSignal.any([stopSignal(), fault.signal]),
  clientErrorHeaders: baseHeaders,
  close() {
    expander.close();
    redis.disconnect();
  },
});
