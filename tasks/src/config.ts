import { integer, readEnv, readOrExit, serviceVariables, textFile } from '@longhand/shared/env.ts';
import { EnvironmentError } from '@longhand/shared/environment-error.ts';
import { redisVariables } from '@longhand/shared/redis-address.ts';
import { z } from 'zod';

/** The password: the only line of a file, with or without a line break. */
const passwordFile = textFile.transform((text, { addIssue }) => {
  const password = text.replace(/\r?\n$/, '');
  if (password !== '' && !/[\r\n]/.test(password)) return password;
  addIssue(
    password
      ? 'has more than one line: write only the password into it'
      : 'is empty: write the password into it, or unset the variable',
  );
  return z.NEVER;
});

/** A program's token, with its name for the log. */
export interface Token {
  name: string;
  token: string;
}

const tokensFile = textFile.transform((text, { addIssue }) => {
  const tokens: Token[] = [];
  for (const [i, line] of text.split('\n').entries()) {
    if (!line.trim()) continue;
    const [, name, token] = /^\s*([\w.@-]{1,64})\s+([!-~]+)\s*$/.exec(line) ?? [];
    // The message must not contain the token.
    if (name && token) tokens.push({ name, token });
    else addIssue(`line ${i + 1} is not NAME TOKEN, with a name of letters, digits, ".", "_", "@" and "-"`);
  }
  return tokens;
});

const variables = {
  ...serviceVariables,
  ...redisVariables,
  /** Replicas of the store that have to confirm each write. */
  TASKS_WAIT_REPLICAS: integer(0, 9).default(0),
  TASKS_PASSWORD_FILE: passwordFile.optional(),
  TASKS_TOKENS_FILE: tokensFile.optional(),
};

/** Load tests read the others. */
const ownNames = { prefix: 'TASKS_', others: ['TASKS_URL', 'TASKS_DIRECT_URL'] };

/** @throws EnvironmentError that names every invalid variable. */
export function readConfig(env: NodeJS.ProcessEnv) {
  const config = readEnv(variables, env, ownNames);
  if (config.TASKS_TOKENS_FILE && config.TASKS_PASSWORD_FILE === undefined) {
    throw new EnvironmentError(
      'Invalid environment:\n  TASKS_TOKENS_FILE: needs TASKS_PASSWORD_FILE, without which nobody is asked for a token',
    );
  }
  return config;
}

if (import.meta.main) await readOrExit(readConfig);
