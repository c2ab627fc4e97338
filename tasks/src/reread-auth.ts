import type { Log } from '@longhand/shared/log.ts';
import { rereadFile } from '@longhand/shared/reread-file.ts';
import { readConfig } from './config.ts';
import { type Auth, auth } from './web/auth.ts';

/** Returns the `Auth` for the files in `env`, or undefined without a password. Rereads changed files if they are valid. */
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
    rereadFile(name, env[name] || '/dev/null', log, () => Object.assign(current, read()));
  }
  return current;
}
