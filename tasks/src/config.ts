import { readEnv, redisUrl, secretFile, serviceVariables } from '@longhand/shared/env.ts';
import { z } from 'zod';

/** `redis+cluster://` names any node of a Redis Cluster. */
const storeUrl = redisUrl.or(
  z
    .string()
    .regex(/^redis\+cluster:\/\/[^/]+\/?$/, 'is not a redis://, rediss://, redis+cluster:// or unix: URL'),
);

const variables = {
  ...serviceVariables,
  /** The store of the tasks. Until it is reachable, every page is 503. */
  REDIS_URL: storeUrl.default('redis://127.0.0.1:6379/0'),
  /** Holds the password of Redis. */
  REDIS_PASSWORD_FILE: secretFile,
};

/** @throws Error that names every invalid variable. */
export function readConfig(env: NodeJS.ProcessEnv) {
  return readEnv(variables, env, ['TASKS_', 'LONGHAND_']);
}
