import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Files of the running supervisor, in the stack's folder: its lock and its status. */
const lockFile = 'stack.lock';
const stateFile = 'stack.json';

/** Milliseconds to wait for the lock: other commands hold it for less, and a supervisor has written its state by then. */
const timeout = 250;

/** SQLITE_BUSY, the low byte of several codes: another process has the lock. */
const busy = 5;

/** The status of the running supervisor. */
export interface RunnerState {
  pid: number;
  /** For people. */
  status: string;
}

/**
 * Makes this process the one that runs the stack, if no other does. The system releases the lock however the process ends.
 * Node has no file locks; SQLite has them on every system.
 *
 * @returns undefined if another process runs the stack.
 * @throws Error if the file cannot be opened, most likely because it belongs to another user.
 */
export function lockStack(): Disposable | undefined {
  try {
    const database = new DatabaseSync(lockFile, { timeout });
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    const { errcode, message } = error as Error & { errcode?: number };
    if (((errcode ?? 0) & 0xff) === busy) return undefined;
    throw new Error(`${resolve(lockFile)} cannot be locked: ${message}`);
  }
}

/** Writes what `make ps` shows; the caller has the lock. */
export function writeState(status: string): void {
  const state: RunnerState = { pid: process.pid, status };
  writeFileSync(`${stateFile}.new`, JSON.stringify(state));
  renameSync(`${stateFile}.new`, stateFile);
}

/** The status of the running supervisor, or undefined if there is none. */
export function readState(): RunnerState | undefined {
  if (!existsSync(lockFile)) return undefined;
  using lock = lockStack();
  return lock ? undefined : JSON.parse(readFileSync(stateFile, 'utf8'));
}
