import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { resolve } from 'node:path';

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
 * Whether `account` can run the stack: read the `files` of its programs and reach `folder`.
 *
 * @returns the obstacle, as a clause; undefined if there is none.
 */
export function obstacle(account: Account, files: readonly string[], folder: string): string | undefined {
  const prefix = dropping(account, false);
  if (!setprivWorks(prefix)) return 'setpriv cannot drop privileges here';
  const fails = (...test: string[]) => spawnSync('setpriv', [...prefix, '--', 'test', ...test]).status !== 0;
  const path = resolve(folder);
  const hidden = fails('-e', path) ? path : files.find((file) => fails('-r', file));
  return hidden && `other users cannot read ${hidden}`;
}

export interface Privileges {
  /** The runner's own by default. */
  account?: Account | undefined;
  /** Whether to keep the right to listen on ports below 1024. */
  lowPorts?: boolean | undefined;
  /** What the kernel sends when the runner dies, even by SIGKILL. */
  orphanSignal: 'TERM' | 'KILL';
}

/** The command prefix that starts a program with these privileges; empty where there is no setpriv, as on macOS. */
export function privilegePrefix({ account, lowPorts = false, orphanSignal }: Privileges): string[] {
  const options = ['--pdeathsig', orphanSignal];
  if (!setprivWorks(options)) return [];
  return ['setpriv', ...options, ...(account ? dropping(account, lowPorts) : []), '--'];
}

function dropping({ uid, gid }: Account, lowPorts: boolean): string[] {
  const capabilities = lowPorts ? '-all,+net_bind_service' : '-all';
  return [
    ...['--reuid', `${uid}`, '--regid', `${gid}`, '--clear-groups', '--no-new-privs'],
    ...['--inh-caps', capabilities, '--ambient-caps', capabilities, '--bounding-set', capabilities],
  ];
}

const works = new Map<string, boolean>();

function setprivWorks(options: string[]): boolean {
  const key = options.join(' ');
  const known = works.get(key) ?? spawnSync('setpriv', [...options, '--', 'true']).status === 0;
  works.set(key, known);
  return known;
}
