import { watchFile } from 'node:fs';
import type { Log } from '@longhand/shared/log.ts';
import { readConfig } from './config.ts';
import { type Auth, auth } from './web/auth.ts';

/** Milliseconds between two looks at the files. */
const interval = 2_000;

/**
 * Logins by the files of `env`. When a file changes, it is read again; an invalid one changes nothing.
 *
 * @returns undefined without a password. A change replaces its methods.
 */
export function rereadAuth(
  env: NodeJS.ProcessEnv,
  { key, log }: { key: () => Promise<Buffer>; log: Log },
): Auth | undefined {
  const read = () => {
    const { TASKS_PASSWORD_FILE: password, TASKS_TOKENS_FILE: tokens } = readConfig(env);
    return password === undefined ? undefined : auth(password, key, tokens);
  };
  const current = read();
  if (!current) return undefined;
  for (const name of ['TASKS_PASSWORD_FILE', 'TASKS_TOKENS_FILE']) {
    watchFile(env[name] || '/dev/null', { interval, persistent: false }, (now, before) => {
      if (now.ctimeMs === before.ctimeMs) return;
      try {
        Object.assign(current, read());
        log.info(`${name} was read again`);
      } catch (err) {
        log.error({ err }, `${name} changed and is invalid: the old content still applies`);
      }
    });
  }
  return current;
}
