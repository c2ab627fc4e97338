import { startTemporaryStack } from '@longhand/deploy/testing/temporary-stack.ts';
import { startShortener } from '@longhand/shortener';
import type { ServiceName, TestStack } from './test-stack.ts';

/** The stack without Docker, on free ports and with its own data. */
export async function startNative(): Promise<TestStack> {
  const shortener = await startShortener();
  const log: string[] = [];
  const stack = await startTemporaryStack({
    onLine(process, line) {
      if (process === 'proxy' && line.startsWith('{')) log.push(line);
    },
  });
  const port = (url: string) => Number(new URL(url).port);
  const signal = async (name: ServiceName, signal: NodeJS.Signals) => {
    const pid = stack.processes.find((process) => process.name === name)?.pid;
    if (pid === undefined) throw new Error(`${name} is not running`);
    process.kill(pid, signal);
  };
  return {
    port: port(stack.urls.proxy),
    expanderPort: port(stack.urls.expander),
    tasksPort: port(stack.urls.tasks),
    shortener: shortener.url,
    proxyLog: async () => log,
    pause: (service) => signal(service, 'SIGSTOP'),
    resume: (service) => signal(service, 'SIGCONT'),
    kill: (service) => signal(service, 'SIGKILL'),
    async stop() {
      await stack.stop();
      await shortener.close();
    },
  };
}
