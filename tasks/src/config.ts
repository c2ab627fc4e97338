import { integer, readEnv, readOrExit, serviceVariables, textFile } from '@longhand/shared/env.ts';
import { EnvironmentError } from '@longhand/shared/environment-error.ts';
import { redisVariables } from '@longhand/shared/redis-address.ts';

const passwordFile = textFile
  .transform((text) => text.replace(/\r?\n$/, ''))
  .refine((password) => /^[^\r\n]+$/.test(password), 'must contain the password on a single line');

/** Access tokens for programs, each with a name for the log. */
const tokensFile = textFile.transform((text, { addIssue }) => {
  const tokens: { name: string; token: string }[] = [];
  for (const [i, line] of text.split('\n').entries()) {
    if (!line.trim()) continue;
    const [, name, token] = /^\s*([\w.@-]{1,64})\s+([!-~]+)\s*$/.exec(line) ?? [];
    // The message must not contain a token.
    if (name && token) tokens.push({ name, token });
    else addIssue(`line ${i + 1} is not NAME TOKEN, with a name of letters, digits, ".", "_", "@" and "-"`);
  }
  return tokens;
});

const variables = {
  ...serviceVariables,
  ...redisVariables,
  /** Number of store replicas that must confirm each write. */
  TASKS_WAIT_REPLICAS: integer(0, 9).default(0),
  TASKS_PASSWORD_FILE: passwordFile.optional(),
  TASKS_TOKENS_FILE: tokensFile.optional(),
};

/** @throws EnvironmentError with every invalid variable. */
export function readConfig(env: NodeJS.ProcessEnv) {
  // Load tests read TASKS_URL and TASKS_DIRECT_URL.
  const config = readEnv(variables, env, { prefix: 'TASKS_', others: ['TASKS_URL', 'TASKS_DIRECT_URL'] });
  if (config.TASKS_TOKENS_FILE && config.TASKS_PASSWORD_FILE === undefined) {
    throw new EnvironmentError(
      'Invalid environment:\n  TASKS_TOKENS_FILE: needs TASKS_PASSWORD_FILE, because tokens are ignored without a password',
    );
  }
  return config;
}

if (import.meta.main) await readOrExit(readConfig);
