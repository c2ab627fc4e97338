import { fchownSync, openSync, rmSync, writeSync } from 'node:fs';
import type { Account } from './privileges.ts';

/** The log of one run, in the stack's folder: lines of all processes, as JSON records. nginx appends its own. */
export const logFile = 'stack.log';

/** Begins a new log in the working directory, for the account of the processes too. @returns what appends to it. */
export function startLog(account: Account | undefined): (service: string, line: string) => void {
  rmSync(logFile, { force: true });
  const file = openSync(logFile, 'ax', 0o600);
  if (account) fchownSync(file, account.uid, account.gid);
  return (service, line) => appendLine(file, service, line);
}

/** Appends a line of a process's output. On a full disk it is lost. */
export function appendLine(file: number, service: string, line: string): void {
  const record = line.startsWith('{')
    ? line
    : JSON.stringify({ level: 'info', time: new Date().toISOString(), service, msg: line });
  try {
    writeSync(file, `${record}\n`);
  } catch {
    // The stack goes on without its log.
  }
}
