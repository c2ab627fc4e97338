import { statSync } from 'node:fs';
import type { Log } from './log.ts';

/** Milliseconds between checks of a file. */
const interval = 2_000;

/**
 * Calls `read` whenever the file at `path` changes. Logs the result with the environment variable's `name`. Returns a function
 * that stops watching.
 */
export function rereadFile(
  name: string,
  path: string,
  log: Pick<Log, 'info' | 'error'>,
  read: () => void,
): () => void {
  // `watchFile` would miss a change before its first check.
  const changed = () => statSync(path, { throwIfNoEntry: false })?.ctimeMs ?? 0;
  let seen = changed();
  const check = () => {
    const now = changed();
    if (now === seen) return;
    seen = now;
    try {
      read();
      log.info(`${name} was reread`);
    } catch (err) {
      log.error({ err }, `${name} changed and is invalid: the old content still applies`);
    }
  };
  const timer = setInterval(check, interval).unref();
  return () => clearInterval(timer);
}
