import { readOrExit } from '@longhand/shared/env.ts';
import { cacheClient, redisState } from '@longhand/shared/redis.ts';
import { redisStatistics } from '@longhand/shared/redis-statistics.ts';
import { prepareService } from '@longhand/shared/service.ts';
import manifest from '../package.json' with { type: 'json' };
import { readConfig } from './config.ts';
import { createExpander } from './expander.ts';
import { baseHeaders } from './web/responses.ts';

const config = await readOrExit(readConfig);
const { log, metrics, run } = prepareService('expander', manifest.version, config);
const redis = cacheClient(config, log);
// The expander is ready without Redis, but slower.
redisState(metrics, () => redis.ping());
redisStatistics(metrics, () => redis.info());
const onMissing = (err: Error) => log.error({ err }, 'a page template prints a missing value');
const expander = createExpander(config, { redis, log, metrics, onMissing });

await run(expander.app, {
  clientErrorHeaders: baseHeaders,
  close() {
    expander.close();
    redis.disconnect();
  },
});
