import { startTemporaryStack } from '@longhand/deploy/testing/temporary-stack.ts';
import { startRedisProcess } from '@longhand/shared/testing/redis.ts';
import { startService, startShortener } from './bench/programs.ts';
import { stackUrls } from './scripts/modules/settings.ts';

/** The stack under load. */
export interface Target extends AsyncDisposable {
  /** The stack's URLs, for log messages. */
  readonly address: string;
  /** Environment variables for the scripts. */
  readonly variables: Record<string, string>;
}

/**
 * Finds the stack at the URLs in `env`, by default the local stack. Starts a local shortener unless `env` has its URL.
 *
 * @returns undefined if `env` has no URL and no stack runs at the default URLs.
 */
export async function findRunningStack(env: NodeJS.ProcessEnv): Promise<Target | undefined> {
  const named: Record<string, string> = {};
  for (const name of [...Object.keys(stackUrls), 'TASKS_DIRECT_URL']) if (env[name]) named[name] = env[name];
  // Do not contact the URLs in `env`, because only k6 checks whether their hosts are allowed.
  const addresses = Object.values(named);
  if (addresses.length === 0 && !(await allRespond(Object.values(stackUrls)))) return undefined;
  const shortener = env.SHORTENER_URL ? undefined : await startShortener();
  return {
    address: addresses.join(', ') || stackUrls.PROXY_URL,
    variables: { ...named, SHORTENER_URL: shortener?.url ?? `${env.SHORTENER_URL}` },
    async [Symbol.asyncDispose]() {
      await shortener?.[Symbol.asyncDispose]();
    },
  };
}

const allRespond = (urls: string[]): Promise<boolean> =>
  Promise.all(urls.map((url) => fetch(url))).then(Boolean, () => false);

/** Starts a native stack on free ports, and a local shortener. */
export async function startOwnStack(): Promise<Target> {
  const running = new AsyncDisposableStack();
  const shortener = running.use(await startShortener());
  const { urls } = running.use(
    await startTemporaryStack({
      env: process.env,
      onLine(process, line) {
        if (/"level":"(error|fatal)"|"level":"warn".*redis/.test(line)) console.error(`${process}: ${line}`);
      },
    }),
  );
  // The stack's own replicas listen on Unix sockets, which never delay acknowledgements.
  const direct = running.use(await startService('tasks', startRedisProcess));
  return {
    address: urls.proxy,
    variables: {
      PROXY_URL: urls.proxy,
      EXPANDER_URL: urls.expander,
      TASKS_URL: urls.tasks,
      TASKS_DIRECT_URL: direct.url,
      SHORTENER_URL: shortener.url,
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
