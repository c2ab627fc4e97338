import { integer, readEnv, serviceVariables } from '@longhand/shared/env.ts';
import { redisVariables } from '@longhand/shared/redis-address.ts';

const variables = {
  ...serviceVariables,
  /** The store of the tasks. Until it is reachable, every page is 503. */
  ...redisVariables,
  /** Replicas of the store that have to confirm each write before it counts as saved. */
  TASKS_WAIT_REPLICAS: integer(0, 9).default(0),
};

/** @throws Error that names every invalid variable. */
export function readConfig(env: NodeJS.ProcessEnv) {
  return readEnv(variables, env, ['TASKS_', 'LONGHAND_']);
}
