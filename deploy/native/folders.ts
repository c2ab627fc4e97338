import { existsSync } from 'node:fs';
import { chmod, chown, lchown, lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Account, unusedId } from './privileges.ts';

/** The files of the runner. */
export const lockFile = 'stack.lock';
export const controlSocket = 'stack.socket';

/** Written anew at each start. */
const temporary = ['run', 'proxy'];
/** The folders of a stack, each named after what writes there; Unix sockets are in `run`. */
const names = [...temporary, 'expander-cache', 'tasks-store', 'log', 'prometheus'];

/**
 * Creates the folders of a stack in `folder`, closed to other users.
 *
 * @throws Error with a message for people if they belong to another user.
 */
export async function createFolders(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o700);
    for (const name of temporary) await rm(join(folder, name), { recursive: true, force: true });
    for (const name of names) {
      await mkdir(join(folder, name), { recursive: true });
      await chmod(join(folder, name), 0o700);
    }
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    if (code !== 'EPERM' && code !== 'EACCES') throw error;
    throw new Error(
      `${path} belongs to another user: start the stack as that user, or give it to yourself with chown -R.`,
    );
  }
}

/**
 * Gives the folders of a stack to `account`. A folder that root keeps lets the account's group pass, so that the account
 * can replace nothing directly in it.
 */
export async function handOver(folder: string, account: Account): Promise<void> {
  for (const name of names) await chownTree(join(folder, name), account);
  const owner = account.uid === unusedId ? 0 : account.uid;
  for (const file of [lockFile, controlSocket]) {
    if (existsSync(join(folder, file))) await lchown(join(folder, file), owner, account.gid);
  }
  await chown(folder, owner, account.gid);
  await chmod(folder, 0o710);
}

async function chownTree(path: string, { uid, gid }: Account): Promise<void> {
  const found = await lstat(path);
  if (found.uid === uid) return;
  if (found.isDirectory()) {
    for (const name of await readdir(path)) await chownTree(join(path, name), { uid, gid });
  }
  await lchown(path, uid, gid);
}
