import { startTemporaryStack } from '@longhand/deploy/testing/temporary-stack.ts';
import { startShortener } from '@longhand/shortener';
import type { CrowdedStack } from '../suite/crowd.ts';
import { startHold } from './crowd.ts';
import { residentBytes } from './memory.ts';

/** The stack without Docker, on free ports and with its own data. */
export async function startNative(): Promise<CrowdedStack> {
  const shortener = await startShortener();
  const stack = await startTemporaryStack();
  const port = (url: string) => Number(new URL(url).port);
  return {
    port: port(stack.urls.proxy),
    expanderPort: port(stack.urls.expander),
    tasksPort: port(stack.urls.tasks),
    shortener: shortener.url,
    proxyLog: async () => (await stack.accessLog()).trim().split('\n'),
    async kill(service) {
      const pid = stack.processes.find(({ name }) => name === service)?.pid;
      if (pid === undefined) throw new Error(`${service} is not running`);
      process.kill(pid, 'SIGKILL');
    },
    host: async () => '127.0.0.1',
    startHold: (hold, n) => startHold({ ...hold, from: `127.0.0.${2 + n}` }),
    async memory() {
      const used = stack.processes.map(async ({ name, pid }) => [name, await residentBytes(pid ?? 0)]);
      return Object.fromEntries(await Promise.all(used));
    },
    async stop() {
      await stack.stop();
      await shortener.close();
    },
  };
}
