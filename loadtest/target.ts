import { startTemporaryStack } from '@longhand/deploy/testing/temporary-stack.ts';
import { startShortener } from '@longhand/shortener';
import { startService } from './bench/services.ts';
import { forward } from './forward.ts';

/** The stack under load. */
export interface Target {
  /** The environment of the scripts. */
  readonly variables: Record<string, string>;
  /** Replaces one process of the tasks service; resolves once its successor is ready. */
  replaceNext?(): Promise<void>;
  stop(): Promise<void>;
}

const defaultUrls = {
  PROXY_URL: 'http://127.0.0.1:8080',
  EXPANDER_URL: 'http://127.0.0.1:8081',
  TASKS_URL: 'http://127.0.0.1:8082',
};

/** What else of a running stack may be reachable: a service behind the proxy, the operations endpoints. */
const optionalUrls = ['TASKS_DIRECT_URL', 'EXPANDER_OPS_URL', 'TASKS_OPS_URL', 'SHORTENER_URL'];

/**
 * Finds the stack at the URLs in `env`, by default the local one, and starts a local shortener for its links.
 *
 * @returns undefined if nothing answers there.
 */
export async function findRunningStack(env: NodeJS.ProcessEnv): Promise<Target | undefined> {
  const variables: Record<string, string> = {};
  for (const [name, url] of Object.entries(defaultUrls)) variables[name] = env[name] || url;
  const responses = await Promise.allSettled(Object.values(variables).map((url) => fetch(url)));
  if (responses.some(({ status }) => status === 'rejected')) return undefined;
  for (const name of optionalUrls) if (env[name]) variables[name] = env[name];
  if (variables.SHORTENER_URL) return { variables, async stop() {} };
  const shortener = await startShortener();
  return { variables: { ...variables, SHORTENER_URL: shortener.url }, stop: shortener.close };
}

/** Starts a stack without Docker on free ports, and a local shortener that its expander may contact. */
export async function startOwnStack(tasksReplicas: number): Promise<Target> {
  const shortener = await startShortener();
  const stack = await startTemporaryStack({
    env: process.env,
    tasksReplicas,
    onLine(process, line) {
      if (/"level":"(error|fatal)"|"level":"warn".*redis/.test(line)) console.error(`${process}: ${line}`);
    },
  });
  const replicas = stack.processes.filter(({ name }) => name === 'tasks');
  const expanderOperations = await forward(stack.operations.expander);
  const tasksOperations = await forward(stack.operations.tasks);
  // The replicas of the stack listen on Unix sockets, where nothing delays an acknowledgement.
  const direct = await startService('tasks');
  let next = 0;
  return {
    variables: {
      PROXY_URL: stack.urls.proxy,
      EXPANDER_URL: stack.urls.expander,
      TASKS_URL: stack.urls.tasks,
      TASKS_DIRECT_URL: direct.url,
      EXPANDER_OPS_URL: expanderOperations.url,
      TASKS_OPS_URL: tasksOperations.url,
      SHORTENER_URL: shortener.url,
    },
    replaceNext: async () => replicas[next++ % replicas.length]?.restart(),
    async stop() {
      await direct.stop();
      expanderOperations.close();
      tasksOperations.close();
      await stack.stop();
      await shortener.close();
    },
  };
}
