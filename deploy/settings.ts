import { readEnv, readOrExit, stackVariables } from '@longhand/shared/env.ts';
import { EnvironmentError } from '@longhand/shared/environment-error.ts';
import { redisVariables } from '@longhand/shared/redis-address.ts';
import { readConfig as readExpanderConfig } from '../expander/src/config.ts';
import { readConfig as readTasksConfig } from '../tasks/src/config.ts';

/**
 * Reads the settings of the stack and its services. Each service reads its own others, such as HOST and PORT, itself.
 *
 * @param checks further readers, which throw an EnvironmentError.
 * @throws EnvironmentError that lists every fault.
 */
export function readSettings(env: NodeJS.ProcessEnv, ...checks: ((env: NodeJS.ProcessEnv) => unknown)[]) {
  const settings = Object.fromEntries(
    Object.entries(env).filter(([name]) => /^(LONGHAND|EXPANDER|TASKS|OTEL)_|^LOG_LEVEL$/.test(name)),
  );
  const faults = [readStack, readRedis, readExpanderConfig, readTasksConfig, ...checks].flatMap((read) => {
    try {
      read(settings);
      return [];
    } catch (error) {
      if (error instanceof EnvironmentError) return error.message.split('\n').slice(1);
      throw error;
    }
  });
  if (faults.length > 0) throw new EnvironmentError(['Invalid environment:', ...new Set(faults)].join('\n'));
  return readStack(settings);
}

const readStack = (env: NodeJS.ProcessEnv) => readEnv(stackVariables, env);

const { REDIS_URL } = redisVariables;
const readRedis = (env: NodeJS.ProcessEnv) =>
  readEnv({ EXPANDER_REDIS_URL: REDIS_URL, TASKS_REDIS_URL: REDIS_URL }, env);

/** Traces were removed. Only `.env` must not configure them: the environment may do so for other programs. */
function refuseTraces(env: NodeJS.ProcessEnv): void {
  const names = Object.keys(env).filter((name) => name.startsWith('OTEL_'));
  const faults = names.map((name) => `\n  ${name}: Longhand no longer exports traces; delete this line`);
  if (faults.length > 0) throw new EnvironmentError(`Invalid environment:${faults.join('')}`);
}

if (import.meta.main) readOrExit((env) => readSettings(env, refuseTraces));
