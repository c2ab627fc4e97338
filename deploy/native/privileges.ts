import { spawnSync } from 'node:child_process';
import { existsSync, lchownSync, lstatSync, mkdirSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

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
  const reason = obstacle(prefix, files, folder);
  if (reason) return reason;
  try {
    if (rootsAlone(existingParent(folder))) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      chownTree(realpathSync(folder), account);
    }
  } catch {
    // The caller tries again and reports the fault.
    return undefined;
  }
  const path = spawnSync('sh', ['-c', 'command -v setpriv'], { encoding: 'utf8' }).stdout.trim();
  process.execve?.(
    path,
    [...prefix, process.execPath, ...process.execArgv, ...process.argv.slice(1)],
    process.env,
  );
  return 'this Node cannot begin anew as another user';
}

/** Stops at what the account owns already: it may have planted links there. */
function chownTree(path: string, account: Account): void {
  const found = lstatSync(path);
  if (found.uid === account.uid) return;
  if (found.isDirectory()) for (const name of readdirSync(path)) chownTree(join(path, name), account);
  lchownSync(path, account.uid, account.gid);
}

const existingParent = (path: string): string => {
  const parent = dirname(resolve(path));
  return existsSync(parent) ? parent : existingParent(parent);
};

/** Whether only root can replace `path`. */
const rootsAlone = (path: string): boolean =>
  statSync(path).uid === 0 && (path === '/' || rootsAlone(dirname(path)));

/** Why the account of `prefix` cannot run the stack, as a clause. */
function obstacle(prefix: string[], files: readonly string[], folder: string): string | undefined {
  const [program = '', ...words] = prefix;
  const fails = (...test: string[]) => spawnSync(program, [...words, 'test', ...test]).status !== 0;
  if (fails('-e', '/')) return 'setpriv cannot drop privileges here';
  const parent = existingParent(folder);
  const hidden = fails('-x', parent) ? parent : files.find((file) => fails('-r', file));
  return hidden && `other users cannot read ${hidden}`;
}

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
