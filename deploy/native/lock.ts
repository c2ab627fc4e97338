import { resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** SQLITE_BUSY, the low byte of several codes: another process has the lock. */
const busy = 5;

/**
 * Takes the lock at `path` for this process, if no other process has it. The system releases it when the process ends,
 * however that happens. Node has no file locks of its own; SQLite has one on every system.
 *
 * @returns undefined if another process has the lock.
 * @throws Error if the file cannot be opened, most likely because it belongs to another user.
 */
export function tryLock(path: string): Disposable | undefined {
  try {
    const database = new DatabaseSync(path, { timeout: 0 });
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    const { errcode, message } = error as Error & { errcode?: number };
    if (((errcode ?? 0) & 0xff) === busy) return undefined;
    throw new Error(`${resolve(path)} cannot be locked: ${message}`);
  }
}
