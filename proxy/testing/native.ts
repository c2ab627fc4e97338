import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStack } from '@longhand/deploy/native/stack.ts';
import { startShortener } from '@longhand/shortener';
import type { TestStack } from './test-stack.ts';

/** The stack without Docker, on free ports and with data of its own. */
export async function startNative(env: NodeJS.ProcessEnv = {}): Promise<TestStack> {
  const folder = await mkdtemp(join(tmpdir(), 'longhand-stack-'));
  const shortener = await startShortener();
  const log: string[] = [];
  const stack = await startStack({
    folder,
    env: {
      PATH: process.env.PATH,
      LONGHAND_PORT: '0',
      LONGHAND_EXPANDER_PORT: '0',
      LONGHAND_TASKS_PORT: '0',
      EXPANDER_ALLOWED_NETWORKS: '127.0.0.0/8',
      ...env,
    },
    write: (part, line) => log.push(`${part} ${line}`),
  });
  const port = (url: string) => Number(new URL(url).port);
  return {
    port: port(stack.urls.proxy),
    expanderPort: port(stack.urls.expander),
    tasksPort: port(stack.urls.tasks),
    shortener: shortener.url,
    proxyLog: async () =>
      log.flatMap((line) => (line.startsWith('proxy {') ? [line.slice('proxy '.length)] : [])),
    async pause(part) {
      signal(stack.parts, part, 'SIGSTOP');
    },
    async resume(part) {
      signal(stack.parts, part, 'SIGCONT');
    },
    async kill(part) {
      signal(stack.parts, part, 'SIGKILL');
    },
    async stop() {
      await stack.stop();
      await shortener.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function signal(
  parts: readonly { name: string; pid: number | undefined }[],
  name: string,
  signal: NodeJS.Signals,
) {
  const pid = parts.find((part) => part.name === name)?.pid;
  if (pid === undefined) throw new Error(`there is no part ${name}`);
  process.kill(pid, signal);
}
