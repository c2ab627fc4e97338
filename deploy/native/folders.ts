import { execFileSync } from 'node:child_process';
import { accessSync, chmodSync, constants, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EnvironmentError } from '@longhand/shared/environment-error.ts';
import { formerLogFile, logFile } from './log.ts';
import type { Account } from './privileges.ts';

/** The folders of a stack, named after their processes; Unix sockets are in `run`, and what Node compiles in `compiled`. */
const names = ['run', 'compiled', 'proxy', 'expander-cache', 'tasks-store', 'observe', 'prometheus'];

export const belongsToAnother = (path: string) =>
  `${path} belongs to another user: start the stack as that user, or give it to yourself with chown -R.`;

/**
 * Creates the folders of a stack in `folder`, closed to other users.
 *
 * @throws EnvironmentError if there can be no such folder, or Error if it belongs to another user; with a message for people.
 */
export function createFolders(folder: string): void {
  try {
    for (const name of names) mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
    accessSync(join(folder, 'run'), constants.W_OK);
  } catch (error) {
    const { code = '', path = folder } = error as NodeJS.ErrnoException;
    if (code === 'EPERM' || code === 'EACCES') throw new Error(belongsToAnother(path));
    throw new EnvironmentError(`${path} cannot be written (${code}): the stack needs a folder for its data.`);
  }
}

/** Gives what is in `folder` to `account`. `folder` itself stays root's, so nothing can be put beside the stack's files. */
export function giveFolders(folder: string, account: Account): void {
  chmodSync(folder, 0o711);
  const logs = [logFile, formerLogFile];
  for (const name of logs) writeFileSync(join(folder, name), '', { flag: 'a', mode: 0o600 });
  for (const name of [...names, ...logs]) {
    const path = join(folder, name);
    // There could be links in what the account has already.
    if (statSync(path).uid !== account.uid)
      execFileSync('chown', ['-hR', `${account.uid}:${account.gid}`, path]);
  }
}
