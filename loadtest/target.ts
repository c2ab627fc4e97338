import { startTemporaryStack, type TemporaryStack } from '@longhand/deploy/testing/temporary-stack.ts';
import { startRedisProcess } from '@longhand/shared/testing/redis.ts';
import { startService, startShortener } from './bench/programs.ts';
import { stackUrls } from './stack-urls.ts';

/** The stack under load. */
export interface Target extends AsyncDisposable {
  /** The URLs that were named, otherwise the proxy's: for messages. */
  readonly address: string;
  /** The environment of the scripts. */
  readonly variables: Record<string, string>;
  /** Its processes; none if it was running before. */
  readonly processes: TemporaryStack['processes'];
}

/**
 * Finds the stack at the URLs in `env`, by default the local one, and starts a local shortener for its links.
 *
 * @returns undefined if `env` names no URL and nothing answers at the default ones.
 */
export async function findRunningStack(env: NodeJS.ProcessEnv): Promise<Target | undefined> {
  const named: Record<string, string> = {};
  for (const name of [...Object.keys(stackUrls), 'TASKS_DIRECT_URL']) if (env[name]) named[name] = env[name];
  // Nothing is sent to a stack that is named: k6 says whether its hosts are allowed, and what is wrong with it.
  const addresses = Object.values(named);
  if (addresses.length === 0 && !(await allAnswer(Object.values(stackUrls)))) return undefined;
  const shortener = env.SHORTENER_URL ? undefined : await startShortener();
  return {
    address: addresses.join(', ') || stackUrls.PROXY_URL,
    variables: { ...named, SHORTENER_URL: shortener?.url ?? `${env.SHORTENER_URL}` },
    processes: [],
    async [Symbol.asyncDispose]() {
      await shortener?.[Symbol.asyncDispose]();
    },
  };
}

const allAnswer = (urls: string[]): Promise<boolean> =>
  Promise.all(urls.map((url) => fetch(url))).then(Boolean, () => false);

/** Starts a stack without Docker on free ports, and a local shortener that its expander may contact. */
export async function startOwnStack(env = process.env): Promise<Target> {
  const running = new AsyncDisposableStack();
  const shortener = running.use(await startShortener());
  const stack = await startTemporaryStack({
    env,
    onLine(process, line) {
      if (/"level":"(error|fatal)"|"level":"warn".*redis/.test(line)) console.error(`${process}: ${line}`);
    },
  });
  running.use(stack);
  // The stack's replicas listen on Unix sockets, which never delay an acknowledgement.
  const direct = running.use(await startService('tasks', startRedisProcess));
  return {
    address: stack.urls.proxy,
    variables: {
      PROXY_URL: stack.urls.proxy,
      EXPANDER_URL: stack.urls.expander,
      TASKS_URL: stack.urls.tasks,
      TASKS_DIRECT_URL: direct.url,
      SHORTENER_URL: shortener.url,
    },
    processes: stack.processes,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
