import { unwatchFile, watchFile } from 'node:fs';
import type { Log } from './log.ts';

/** Milliseconds between checks of a file. */
const interval = 2_000;

/**
 * Calls `read` after each change of the file of the variable `name`. If `read` throws, the old content still applies.
 *
 * @returns a function that stops this.
 */
export function rereadFile(
  name: string,
  path: string,
  log: Pick<Log, 'info' | 'error'>,
  read: () => void,
): () => void {
  const onChange = (now: { ctimeMs: number }, before: { ctimeMs: number }) => {
    if (now.ctimeMs === before.ctimeMs) return;
    try {
      read();
      log.info(`${name} was read again`);
    } catch (err) {
      log.error({ err }, `${name} changed and is invalid: the old content still applies`);
    }
  };
  watchFile(path, { interval, persistent: false }, onChange);
  return () => unwatchFile(path, onChange);
}
