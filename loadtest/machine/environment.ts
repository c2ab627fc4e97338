import { execFileSync } from 'node:child_process';
import os from 'node:os';

/** The machine, and the versions of what runs on it. */
export function machine(): Record<string, string> {
  return {
    processor: `${os.availableParallelism()} x ${os.cpus()[0]?.model.trim()}`,
    memory: `${Math.round(os.totalmem() / 2 ** 30)} GiB`,
    system: `${os.type()} ${os.release()}`,
    node: process.version,
    nginx: version('nginx', ['-v'], /nginx\/(\S+)/),
    redis: version('redis-server', ['--version'], /v=(\S+)/),
  };
}

function version(command: string, args: string[], pattern: RegExp): string {
  try {
    const env = { ...process.env, PATH: `${process.env.PATH}:/usr/local/sbin:/usr/sbin` };
    // nginx writes its version to standard error.
    const output = execFileSync('sh', ['-c', '"$@" 2>&1', 'sh', command, ...args], { encoding: 'utf8', env });
    return pattern.exec(output)?.[1] ?? 'unknown';
  } catch {
    return 'not installed';
  }
}
