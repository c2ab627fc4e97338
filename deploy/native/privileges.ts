import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

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
 * The account of the processes when root starts the stack: the owner of the checkout, so that the data stays theirs,
 * or, if that is root, one of its own.
 *
 * @returns undefined if the runner has no privileges to drop.
 */
export function unprivilegedAccount(checkout: string): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const { uid, gid } = statSync(checkout);
  return uid === 0 ? { uid: unusedId, gid: unusedId } : { uid, gid };
}

/**
 * If root runs this program, restarts it as the account of the checkout before it opens anything in `folder`, where that
 * account could have planted a link. Root creates and gives away only a folder that no one else can replace.
 *
 * @param files that the account has to read.
 * @param lowPorts whether to keep the right to listen on ports below 1024.
 * @returns why it stays root, as a clause; undefined if it is not root.
 */
export function leaveRoot(
  checkout: string,
  folder: string,
  files: readonly string[],
  lowPorts: boolean,
): string | undefined {
  const account = unprivilegedAccount(checkout);
  if (account === undefined) return undefined;
  const prefix = accountPrefix(account, lowPorts);
  const can = (...test: string[]) => spawnSync('env', [...prefix, 'test', ...test]).status === 0;
  if (!can('-e', '/')) return 'setpriv cannot drop privileges here';
  const parent = existingParent(folder);
  const hidden = can('-x', parent) ? files.find((file) => !can('-r', file)) : parent;
  if (hidden) return `other users cannot read ${hidden}`;
  try {
    if (rootsAlone(parent)) giveAway(folder, account);
  } catch {
    // The caller tries again and reports the fault.
    return undefined;
  }
  process.execve?.(
    '/usr/bin/env',
    ['env', ...prefix, process.execPath, ...process.execArgv, ...process.argv.slice(1)],
    process.env,
  );
  return 'this Node cannot restart as another user';
}

/** Leaves alone what the account owns already: it may have planted links there. */
function giveAway(folder: string, { uid, gid }: Account): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (statSync(folder).uid !== uid) execFileSync('chown', ['-hR', `${uid}:${gid}`, `${resolve(folder)}/`]);
}

const existingParent = (path: string): string => {
  const parent = dirname(resolve(path));
  return existsSync(parent) ? parent : existingParent(parent);
};

/** Whether only root can replace `path`. */
const rootsAlone = (path: string): boolean =>
  statSync(path).uid === 0 && (path === '/' || rootsAlone(dirname(path)));

/**
 * The command prefix that starts a program which does not outlive its supervisor; empty where there is no setpriv, as on
 * macOS.
 *
 * @param lowPorts whether it may listen on ports below 1024, if the supervisor may.
 * @param orphanSignal what the kernel sends when the supervisor dies, even by SIGKILL.
 */
export function childPrefix(lowPorts: boolean, orphanSignal: 'TERM' | 'KILL'): string[] {
  childrenEnd ??= spawnSync('setpriv', ['--pdeathsig', 'KILL', '--', 'true']).status === 0;
  if (!childrenEnd) return [];
  return ['setpriv', '--pdeathsig', orphanSignal, ...(lowPorts ? [] : ['--ambient-caps', '-all']), '--'];
}

let childrenEnd: boolean | undefined;

/** The command prefix that starts a program as `account`, with at most the right to listen on low ports. */
export function accountPrefix({ uid, gid }: Account, lowPorts: boolean): string[] {
  const capabilities = lowPorts ? '-all,+net_bind_service' : '-all';
  return [
    ...['setpriv', '--reuid', `${uid}`, '--regid', `${gid}`, '--clear-groups', '--no-new-privs'],
    ...['--inh-caps', capabilities, '--ambient-caps', capabilities, '--bounding-set', capabilities, '--'],
  ];
}
