import { execFileSync } from 'node:child_process';
import { accessSync, chmodSync, constants, mkdirSync, rmSync, statSync } from 'node:fs';
import { EnvironmentError } from '@longhand/shared/environment-error.ts';
import type { Account } from './privileges.ts';

/** Rewritten at each start. */
const temporary = ['run', 'proxy'];
/** The folders of a stack, named after their processes; Unix sockets are in `run`. */
const names = [...temporary, 'expander-cache', 'tasks-store'];

export const belongsToAnother = (path: string) =>
  `${path} belongs to another user: start the stack as that user, or give it to yourself with chown -R.`;

/**
 * Makes `folder` the working directory: the paths of Unix sockets have to be short, so they are relative.
 *
 * @throws EnvironmentError if there can be no such folder, or Error if it belongs to another user; with a message for people.
 */
export const enterFolder = (folder: string): void =>
  explained(folder, () => {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
    process.chdir(folder);
  });

/**
 * Creates the folders of a stack in `folder`, closed to other users.
 *
 * @throws as `enterFolder`
 */
export const createFolders = (folder: string): void =>
  explained(folder, () => {
    for (const name of temporary) rmSync(`${folder}/${name}`, { recursive: true, force: true });
    for (const name of names) mkdirSync(`${folder}/${name}`, { recursive: true, mode: 0o700 });
  });

/**
 * Gives the folders to the account of the processes. `folder` itself stays root's, and from then on root opens nothing in
 * those that it gave, where a process could plant a link.
 */
export function giveFolders(folder: string, account: Account, given: readonly string[] = names): void {
  chmodSync(folder, 0o711);
  for (const name of given) {
    const path = `${folder}/${name}`;
    // There could be links in what the account has already.
    if (statSync(path).uid !== account.uid)
      execFileSync('chown', ['-hR', `${account.uid}:${account.gid}`, path]);
  }
}

function explained(folder: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    const { code = '', path = folder } = error as NodeJS.ErrnoException;
    if (code === 'EPERM' || code === 'EACCES') throw new Error(belongsToAnother(path));
    throw new EnvironmentError(`${path} cannot be written (${code}): the stack needs a folder for its data.`);
  }
}
