import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '@longhand/shared/testing/free-port.ts';
import { testFolder } from '@longhand/shared/testing/text-file.ts';
import { Redis } from 'ioredis';
import { configuration } from './store.ts';

/** A system call that has returned. */
export interface SystemCall {
  name: string;
  /** The descriptor with its file or socket, such as `8<socket:[4711]>`. */
  file: string;
  /** Bytes read or written, in strace's notation. */
  text: string;
  /** Milliseconds since 1970. */
  at: number;
}

/** The reason why tests cannot trace processes here; undefined if they can. */
export function noTrace(): string | undefined {
  const { error, status } = spawnSync('strace', ['-o', '/dev/null', 'true']);
  if (error) return 'strace is not installed';
  return status === 0 ? undefined : 'this system does not permit ptrace';
}

/**
 * Starts Redis with the production configuration and `syncTime` milliseconds per fsync. `stop` resolves with the main
 * thread's system calls on files and sockets, in order of completion.
 */
export async function startTracedRedis(syncTime: number) {
  const folder = testFolder();
  const trace = join(folder, 'trace');
  const port = await freePort();
  const strace = [
    ...['-ttt', '-y', '-s', '65536', '-o', trace],
    ...['-e', 'trace=read,write,writev,sendto,fsync,fdatasync'],
    ...['-e', `inject=fsync,fdatasync:delay_enter=${syncTime * 1_000}`],
  ];
  const where = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder];
  const child = spawn('strace', [...strace, 'redis-server', configuration, ...where], { stdio: 'ignore' });
  const redis = new Redis(port, '127.0.0.1', { retryStrategy: () => 20, maxRetriesPerRequest: null });
  redis.on('error', () => {});
  const exited = once(child, 'exit');
  await Promise.race([redis.ping(), exited.then(([code]) => Promise.reject(new Error(`strace: ${code}`)))]);
  return {
    url: `redis://127.0.0.1:${port}/0`,
    async stop(): Promise<SystemCall[]> {
      redis.shutdown('NOSAVE').catch(() => {});
      await exited;
      redis.disconnect();
      return parse(await readFile(trace, 'latin1'));
    },
  };
}

function parse(trace: string): SystemCall[] {
  return trace.split('\n').flatMap((line) => {
    const [, time, name, file, text = ''] = /^([\d.]+) (\w+)\((\d+<.*?>)(.*)$/.exec(line) ?? [];
    return name && file ? [{ name, file, text, at: Number(time) * 1_000 }] : [];
  });
}
