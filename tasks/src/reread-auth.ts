import { watchFile } from 'node:fs';
import type { Log } from '@longhand/shared/log.ts';
import { readConfig } from './config.ts';
import { type Auth, auth } from './web/auth.ts';

/** Milliseconds between two looks at the files. */
const interval = 2_000;

/**
 * The login by the files of `env`, which are read again when they change. Until they are valid, what they had counts.
 *
 * @returns undefined without a password.
 */
export function rereadAuth(
  env: NodeJS.ProcessEnv,
  { key, log }: { key: () => Promise<Buffer>; log: Log },
): Auth | undefined {
  const read = () => {
    const { TASKS_PASSWORD_FILE: password, TASKS_TOKENS_FILE: tokens } = readConfig(env);
    return password === undefined ? undefined : auth(password, key, tokens);
  };
  let current = read();
  if (!current) return undefined;
  for (const name of ['TASKS_PASSWORD_FILE', 'TASKS_TOKENS_FILE']) {
    watchFile(env[name] || '/dev/null', { interval, persistent: false }, (now, before) => {
      if (now.ctimeMs === before.ctimeMs) return;
      try {
        current = read() ?? current;
        log.info(`${name} was read again`);
      } catch (err) {
        log.error({ err }, `${name} changed and is not valid: what it had counts`);
      }
    });
  }
  const latest = () => current as Auth;
  return {
    isPassword: (given) => latest().isPassword(given),
    admits: (c) => latest().admits(c),
    logIn: (c) => latest().logIn(c),
    logOut: (c) => latest().logOut(c),
  };
}
