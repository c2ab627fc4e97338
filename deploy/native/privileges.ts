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

/** How a program starts. */
interface Start {
  /** The account of the program, if root starts it. */
  account?: Account | undefined;
  /** Whether that account may listen on ports below 1024. */
  lowPorts?: boolean | undefined;
  /** What the kernel sends the program when its supervisor dies, even by SIGKILL. */
  orphanSignal?: 'TERM' | 'KILL' | undefined;
}

/**
 * The account of all processes when root starts the stack: the owner of the checkout, or, if that is root, one of its own.
 *
 * @returns undefined if the runner has no privileges to drop, or cannot drop them, as where the checkout is closed to
 *   other users.
 */
export function unprivilegedAccount(checkout: string): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const { uid, gid } = statSync(checkout);
  const account = uid === 0 ? { uid: unusedId, gid: unusedId } : { uid, gid };
  const [setpriv, ...options] = childPrefix({ account });
  const source = join(checkout, 'shared', 'src', 'service.ts');
  return setpriv && spawnSync(setpriv, [...options, 'test', '-r', source]).status === 0 ? account : undefined;
}

/**
 * The command prefix that starts a program which does not outlive its supervisor, and has no privileges. It is empty where
 * there is no setpriv, as on macOS.
 */
export function childPrefix({ account, lowPorts = false, orphanSignal = 'KILL' }: Start): string[] {
  hasSetpriv ??= spawnSync('setpriv', ['--pdeathsig', 'KILL', '--', 'true']).status === 0;
  if (!hasSetpriv) return [];
  const capabilities = lowPorts ? '-all,+net_bind_service' : '-all';
  const sets = ['inh-caps', 'ambient-caps', 'bounding-set'].map((set) => `--${set}=${capabilities}`);
  const drop = account && [`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups', ...sets];
  return ['setpriv', '--no-new-privs', '--pdeathsig', orphanSignal, ...(drop ?? []), '--'];
}

let hasSetpriv: boolean | undefined;
