import { integer, list, readEnv, redisUrl, secretFile, serviceVariables } from '@longhand/shared/env.ts';
import { z } from 'zod';
import { isNetwork } from './guard/public-address.ts';

const headerValue = z.string().regex(/^[\x20-\x7e]{1,256}$/, 'is not 1 to 256 characters of ASCII');

const variables = {
  ...serviceVariables,
  REDIS_URL: redisUrl.default('redis://127.0.0.1:6379/0'),
  /** Holds the password of Redis. */
  REDIS_PASSWORD_FILE: secretFile,
  /** Networks that are exempt from the public-address guard, for development and tests. */
  EXPANDER_ALLOWED_NETWORKS: list(
    z.string().refine(isNetwork, 'is not a list of networks such as 127.0.0.0/8,::1/128'),
  ).default([]),
  /** Redirects followed before an expansion stops; `expand.maxRedirect` at start. */
  EXPANDER_MAX_REDIRECT: integer(0, 20).default(5),
  /** What websites see. Some answer scripts differently from browsers, or by language. */
  EXPANDER_USER_AGENT: headerValue.default('Longhand/0.1 (short URL expander)'),
  EXPANDER_ACCEPT: headerValue.default('text/html,application/xhtml+xml,*/*;q=0.8'),
  EXPANDER_ACCEPT_LANGUAGE: headerValue.default('en'),
};

export type Config = ReturnType<typeof readConfig>;

/** @throws Error that names every fault of the environment. */
export function readConfig(env: NodeJS.ProcessEnv) {
  return readEnv(variables, env, ['EXPANDER_', 'LONGHAND_']);
}
