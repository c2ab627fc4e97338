import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';

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
