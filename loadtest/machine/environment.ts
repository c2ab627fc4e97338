import { spawnSync } from 'node:child_process';
import os from 'node:os';

/** The machine, and the version of Node. */
export function machine(): Record<string, string> {
  return {
    processor: `${os.availableParallelism()} x ${os.cpus()[0]?.model.trim()}`,
    memory: `${Math.round(os.totalmem() / 2 ** 30)} GiB`,
    system: `${os.type()} ${os.release()}`,
    node: process.version,
  };
}

/** The versions of the other programs of a native stack. */
export const programs = (): Record<string, string> => ({
  nginx: version('nginx', '-v'),
  redis: version('redis-server', '--version'),
});

function version(command: string, flag: string): string {
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/local/sbin:/usr/sbin` };
  // nginx writes its version to standard error.
  const { stdout, stderr } = spawnSync(command, [flag], { encoding: 'utf8', env });
  return /(?:nginx\/|v=)(\S+)/.exec(`${stdout}${stderr}`)?.[1] ?? 'not installed';
}
