import { startTemporaryStack } from '@longhand/deploy/testing/temporary-stack.ts';
import { startShortener } from '@longhand/shortener';
import { startService } from './bench/services.ts';

/** The stack under load. */
export interface Target extends AsyncDisposable {
  /** Its URL for people: those that were named, otherwise the proxy's. */
  readonly address: string;
  /** The environment of the scripts. */
  readonly variables: Record<string, string>;
  /** The current process ids by name; none of a stack that somebody else started. */
  readonly processes: Readonly<Record<string, () => number | undefined>>;
  /** Replaces one process of the tasks service; resolves once its successor is ready. */
  replaceNext?(): Promise<void>;
}

const defaultUrls = {
  PROXY_URL: 'http://127.0.0.1:8080',
  EXPANDER_URL: 'http://127.0.0.1:8081',
  TASKS_URL: 'http://127.0.0.1:8082',
};

/**
 * Finds the stack at the URLs in `env`, by default the local one, and starts a local shortener for its links.
 *
 * @returns undefined if `env` names none and nothing answers at the default addresses.
 */
export async function findRunningStack(env: NodeJS.ProcessEnv): Promise<Target | undefined> {
  const variables: Record<string, string> = {};
  for (const [name, url] of Object.entries(defaultUrls)) variables[name] = env[name] || url;
  const named = Object.keys(defaultUrls).flatMap((name) => env[name] || []);
  // Nothing is sent to a stack that was asked for: k6 says whether its hosts are allowed, and what is wrong with it.
  if (named.length === 0 && !(await allAnswer(Object.values(variables)))) return undefined;
  if (env.TASKS_DIRECT_URL) variables.TASKS_DIRECT_URL = env.TASKS_DIRECT_URL;
  const shortener = env.SHORTENER_URL ? undefined : await startShortener();
  return {
    address: named.join(', ') || defaultUrls.PROXY_URL,
    variables: { ...variables, SHORTENER_URL: shortener?.url ?? `${env.SHORTENER_URL}` },
    processes: {},
    async [Symbol.asyncDispose]() {
      await shortener?.close();
    },
  };
}

const allAnswer = (urls: string[]): Promise<boolean> =>
  Promise.all(urls.map((url) => fetch(url))).then(Boolean, () => false);

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
  // The replicas of the stack listen on Unix sockets, where nothing delays an acknowledgement.
  const direct = await startService('tasks');
  let next = 0;
  return {
    address: stack.urls.proxy,
    variables: {
      PROXY_URL: stack.urls.proxy,
      EXPANDER_URL: stack.urls.expander,
      TASKS_URL: stack.urls.tasks,
      TASKS_DIRECT_URL: direct.url,
      SHORTENER_URL: shortener.url,
    },
    processes: Object.fromEntries(
      stack.processes.map((process, i) => {
        const replica = stack.processes.slice(0, i).filter(({ name }) => name === process.name).length + 1;
        return [replica === 1 ? process.name : `${process.name}-${replica}`, () => process.pid];
      }),
    ),
    replaceNext: async () => replicas[next++ % replicas.length]?.restart(),
    async [Symbol.asyncDispose]() {
      await direct[Symbol.asyncDispose]();
      await stack.stop();
      await shortener.close();
    },
  };
}
