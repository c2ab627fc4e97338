import { startTemporaryStack } from '@longhand/deploy/testing/temporary-stack.ts';
import { startShortener } from '@longhand/loadtest/bench/programs.ts';
import type { TestStack } from './test-stack.ts';

/** Starts the stack without Docker, and the local shortener; `stop` removes both. */
export async function startNative() {
  const shortener = await startShortener();
  const { urls, processes, accessLog, stop } = await startTemporaryStack();
  const port = (url: string) => Number(new URL(url).port);
  const stack: TestStack = {
    port: port(urls.proxy),
    expanderPort: port(urls.expander),
    tasksPort: port(urls.tasks),
    shortener: shortener.url,
    proxyLog: async () => (await accessLog()).trim().split('\n'),
    async kill(service) {
      const { pid = 0 } = processes.find(({ name }) => name === service) ?? {};
      process.kill(pid, 'SIGKILL');
    },
  };
  return {
    ...stack,
    processes,
    async stop() {
      await stop();
      await shortener[Symbol.asyncDispose]();
    },
  };
}
