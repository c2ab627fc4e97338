import { execFileSync, spawnSync } from 'node:child_process';
import { accessSync, chmodSync, constants, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EnvironmentError } from '@longhand/shared/environment-error.ts';
import { formerLogFile, logFile } from './log.ts';

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

/** A user and group of the system, by their numbers. */
export interface Account {
  uid: number;
  gid: number;
}

/**
 * A number for the processes of root's own checkouts. systemd's table of user ids lists 65520 to 65533 as unused, and
 * Debian's policy reserves them, so no account has it.
 */
export const unusedId = 65_520;

/**
 * The account of the whole stack when root starts it: the owner of the checkout, or, if that is root, one of its own.
 *
 * @returns undefined if the user is not root, or the account could not run it, as where the checkout is closed to others.
 */
export function unprivilegedAccount(checkout: string): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const { uid, gid } = statSync(checkout);
  const account = uid === 0 ? { uid: unusedId, gid: unusedId } : { uid, gid };
  const source = join(checkout, 'shared', 'src', 'service.ts');
  const { status } = spawnSync('env', [...withoutPrivileges(account), 'test', '-r', source]);
  return status === 0 ? account : undefined;
}

/** The words before a command that `account` runs without privileges, but for ports below 1024 if `lowPorts`. */
export function withoutPrivileges({ uid, gid }: Account, lowPorts = false): string[] {
  const capabilities = lowPorts ? '-all,+net_bind_service' : '-all';
  const sets = ['inh-caps', 'ambient-caps', 'bounding-set'].map((set) => `--${set}=${capabilities}`);
  return ['setpriv', '--no-new-privs', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', ...sets, '--'];
}
