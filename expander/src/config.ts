import { readableFile, readEnv, readOrExit, serviceVariables } from '@longhand/shared/env.ts';
import { redisVariables } from '@longhand/shared/redis-address.ts';
import { z } from 'zod';
import { type Rate, readRate } from './limits/rate.ts';
import { ownNames, type Variable, variables } from './variables.ts';

/** Rate limit per client; unlimited by default. */
const clientRate: Variable<Rate | null> = {
  fallback: '',
  read: (text) => (text === '' ? null : readRate(text)),
  fault: 'is not a rate such as 60r/m',
};

export type Config = ReturnType<typeof readConfig>;

/** @throws Error that names every invalid variable. */
export function readConfig(env: NodeJS.ProcessEnv) {
  return readEnv(
    {
      ...serviceVariables,
      ...redisVariables,
      EXPANDER_ALLOWED_NETWORKS: schema(variables.EXPANDER_ALLOWED_NETWORKS),
      EXPANDER_MAX_REDIRECT: schema(variables.EXPANDER_MAX_REDIRECT),
      EXPANDER_CLIENT_RATE: schema(clientRate),
      EXPANDER_KEYS_FILE: readableFile.optional(),
      EXPANDER_USER_AGENT: schema(variables.EXPANDER_USER_AGENT),
    },
    env,
    ownNames,
  );
}

function schema<Value>({ fallback, read, fault }: Variable<Value>) {
  return z
    .string()
    .default(fallback)
    .transform((text, { addIssue }) => {
      const value = read(text);
      if (value !== undefined) return value;
      addIssue(fault);
      return z.NEVER;
    });
}

if (import.meta.main) await readOrExit(readConfig);
