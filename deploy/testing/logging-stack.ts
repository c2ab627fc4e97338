import { join } from 'node:path';
import { openLogFiles } from '../native/log-files.ts';
import { startTemporaryStack } from './temporary-stack.ts';

/** A stack for tests whose output is kept in its folder, as the runner keeps it. */
export async function startLoggingStack(options: Parameters<typeof startTemporaryStack>[0] = {}) {
  let log: ReturnType<typeof openLogFiles> | undefined;
  const onLine = (process: string, line: string) => log?.write(process, line);
  const stack = await startTemporaryStack({ ...options, onLine });
  log = openLogFiles(join(stack.folder, 'log'));
  return stack;
}
