import { execFileSync, spawnSync } from 'node:child_process';
import { accessSync, chmodSync, constants, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EnvironmentError } from '@longhand/shared/environment-error.ts';
import { formerLogFile, logFile } from './log.ts';

/** A stack's folders, named after their processes. `run` contains Unix sockets, `compiled` Node's compile cache. */
const names = ['run', 'compiled', 'proxy', 'expander-cache', 'tasks-store', 'observe', 'prometheus'];

export const belongsToAnother = (path: string) =>
  `${path} belongs to another user. Start the stack as that user, or change the owner with chown -R.`;

/**
 * Creates the stack's folders in `folder`. Other users cannot access these folders.
 *
 * @throws EnvironmentError if a folder cannot be created, Error if it belongs to another user.
 */
export function createFolders(folder: string): void {
  try {
    for (const name of names) mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
    accessSync(join(folder, 'run'), constants.W_OK);
  } catch (error) {
    const { code = '', path = folder } = error as NodeJS.ErrnoException;
    if (code === 'EPERM' || code === 'EACCES') throw new Error(belongsToAnother(path));
    throw new EnvironmentError(`Cannot create ${path} (${code}). The stack needs a folder for its data.`);
  }
}

/** Makes `account` the owner of everything in `folder`. Root still owns `folder`, so the account cannot add files to it. */
export function giveFolders(folder: string, account: Account): void {
  chmodSync(folder, 0o711);
  const logs = [logFile, formerLogFile];
  for (const name of logs) writeFileSync(join(folder, name), '', { flag: 'a', mode: 0o600 });
  for (const name of [...names, ...logs]) {
    const path = join(folder, name);
    // Skip files that the account owns, because they could be links.
    if (statSync(path).uid !== account.uid)
      execFileSync('chown', ['-hR', `${account.uid}:${account.gid}`, path]);
  }
}

export interface Account {
  uid: number;
  gid: number;
}

/**
 * User ID for running root's checkouts. systemd lists 65520 to 65533 as unused, and Debian reserves them, so no account has this
 * ID.
 */
export const unusedId = 65_520;

/**
 * Returns the account for a stack started by root. This is the checkout's owner, or `unusedId` if root owns the checkout.
 *
 * @returns undefined if this user is not root, or if the account cannot read the checkout.
 */
export function unprivilegedAccount(checkout: string): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const { uid, gid } = statSync(checkout);
  const account = uid === 0 ? { uid: unusedId, gid: unusedId } : { uid, gid };
  const source = join(checkout, 'shared', 'src', 'service.ts');
  const { status } = spawnSync('env', [...withoutPrivileges(account), 'test', '-r', source]);
  return status === 0 ? account : undefined;
}

/** Returns a command prefix that switches to `account` and drops privileges. `lowPorts` keeps access to ports below 1024. */
export function withoutPrivileges({ uid, gid }: Account, lowPorts = false): string[] {
  const capabilities = lowPorts ? '-all,+net_bind_service' : '-all';
  const sets = ['inh-caps', 'ambient-caps', 'bounding-set'].map((set) => `--${set}=${capabilities}`);
  return ['setpriv', '--no-new-privs', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', ...sets, '--'];
}
