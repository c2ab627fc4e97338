import { unwatchFile, watchFile } from 'node:fs';
import type { Log } from './log.ts';

/** Milliseconds between two looks at a file. */
const interval = 2_000;

/**
 * Calls `read` each time the file changes that the variable `name` names. If that throws, the old content still applies.
 *
 * @returns stops it.
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
