import { addShortener, forbidShortener, kubectl, pods, scale, signal } from './kubectl.ts';
import type { TestStack } from './test-stack.ts';
import type { Watched } from './under-load.ts';

/** The stack that `make kubernetes` has made. */
export const cluster: Watched = {
  expanderPort: 30_081,
  tasksPort: 30_082,
  /** The lines of all proxies that there are. */
  async proxyLog() {
    const all = '--selector=app.kubernetes.io/name=proxy';
    return (await kubectl('logs', all, '--tail=20000')).split('\n');
  },
};

/** The stack of the overlay `load`, with one replica of each service, for the acceptance suite. */
export async function applyStack(): Promise<TestStack & { stop(): Promise<void> }> {
  await addShortener();
  await scale(1, 'expander', 'tasks', 'proxy');
  return {
    ...cluster,
    port: 30_080,
    shortener: 'http://shortener.longhand.svc.cluster.local:9000',
    kill: async (service) => signal((await pods(service))[0]?.name ?? '', 'KILL'),
    /** Back to the overlay `local`. */
    async stop() {
      await forbidShortener();
      await scale(2, 'expander', 'tasks', 'proxy');
    },
  };
}
