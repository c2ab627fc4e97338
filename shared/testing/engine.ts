import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Checks whether a Docker engine responds. */
export async function hasEngine(): Promise<boolean> {
  return run('docker', ['version', '--format', '{{.Server.Version}}'], { timeout: 10_000 }).then(
    () => true,
    () => false,
  );
}

/** Runs a `docker` command and returns its output. */
export async function docker(...args: string[]): Promise<string> {
  return (await run('docker', args, { maxBuffer: 64 * 1024 * 1024 })).stdout.trim();
}
