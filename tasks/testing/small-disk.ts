import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Mounts a file system in memory that a test can fill. @throws Error if this process may not mount */
export function mountSmallDisk(megabytes: number) {
  const folder = mkdtempSync(join(tmpdir(), 'longhand-disk-'));
  const filler = join(folder, 'filler');
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stdio: 'pipe' });
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw error;
  }
  return {
    folder,
    /** Fills the disk except for `left` bytes, rounded down to whole blocks. */
    fill(left: number) {
      const { bavail, bsize } = statfsSync(folder);
      writeFileSync(filler, Buffer.alloc((bavail - Math.floor(left / bsize)) * bsize));
    },
    clear: () => rmSync(filler),
    unmount() {
      execFileSync('umount', ['--lazy', folder]);
      rmSync(folder, { recursive: true });
    },
  };
}

/** The reason why tests cannot mount a small disk here; undefined if they can. */
export function noSmallDisk(): string | undefined {
  try {
    mountSmallDisk(1).unmount();
    return undefined;
  } catch {
    return 'mounting a file system in memory needs root';
  }
}
