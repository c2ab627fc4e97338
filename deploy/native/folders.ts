import { chmod, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

export const belongsToAnother = (path = '') =>
  `${path} belongs to another user: start the stack as that user, or give it to yourself with chown -R.`;

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
    throw new Error(belongsToAnother(path));
  }
}
