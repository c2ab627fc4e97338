import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readSettings, warningsAbout } from '../settings.ts';
import { withoutStackVariables } from '../variables.ts';
import { addressesOf, checkPorts, configureProxy, writePages } from './configuration.ts';
import { createFolders } from './folders.ts';
import { proxy, redis, searchPath, service, upstreamServers } from './processes.ts';
import { type ProcessContext, type ProcessSpec, type SupervisedProcess, supervise } from './supervisor.ts';

/** How long nginx drains before the services stop (ms). */
const proxyDrainTime = 2_000;

export interface StackOptions extends ProcessContext {
  /** Folder for data, rendered configuration and Unix sockets. Max 80 bytes, because socket paths are limited. */
  folder: string;
}

export interface Stack extends AsyncDisposable {
  /** The proxy's listen address, in URL syntax. 0.0.0.0 means all addresses. */
  readonly bind: string;
  readonly variables: Awaited<ReturnType<typeof readSettings>>;
  readonly processes: readonly SupervisedProcess[];
  stop(): Promise<void>;
}

/**
 * Starts the stack without Docker: a cache, a store, both services, and nginx with the image's templates. Only nginx listens
 * on TCP ports.
 *
 * @throws EnvironmentError for invalid variables. Error if a process does not start, after stopping the other processes.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { env, folder } = options;
  const variables = await readSettings({ NODE_COMPILE_CACHE: resolve(folder, 'compiled'), ...env });
  for (const warning of warningsAbout(env, 'natively')) options.onLine('settings', `Warning: ${warning}`);
  const addresses = addressesOf(variables.LONGHAND_BIND);
  const [bind] = addresses;
  await checkPorts(variables, variables.LONGHAND_BIND);
  const replicas = (name: string) =>
    Array.from({ length: variables.LONGHAND_REPLICAS }, (_, i) => (i === 0 ? name : `${name}-${i + 1}`));
  const expanders = replicas('expander');
  const tasks = replicas('tasks');

  createFolders(folder);
  await writePages(join(folder, 'proxy', 'pages'));
  await configureProxy(join(folder, 'proxy'), addresses, {
    ...variables,
    EXPANDER_KEYS_FILE: env.EXPANDER_KEYS_FILE,
    LONGHAND_EXPANDER_SERVER: upstreamServers(expanders),
    LONGHAND_TASKS_SERVER: upstreamServers(tasks),
  });
  const { processes, stop } = await startInOrder(
    [
      [redis('expander-cache', 'expander', folder), redis('tasks-store', 'tasks', folder)],
      [
        ...expanders.map((replica) => service('expander', replica, 'expander-cache', folder)),
        ...tasks.map((replica) => service('tasks', replica, 'tasks-store', folder)),
      ],
      [proxy(bind.replace(/[[\]]/g, ''), variables.LONGHAND_PORT)],
    ],
    { ...options, env: { ...withoutStackVariables(env), PATH: searchPath(env) } },
  );
  return { bind, variables, processes, stop, [Symbol.asyncDispose]: stop };
}

/** Starts Redis, then the services, then the proxy, each group once the previous group is ready. Stops in reverse order. */
async function startInOrder(groups: ProcessSpec[][], context: ProcessContext) {
  const started: SupervisedProcess[][] = [];
  const stop = async () => {
    const [stores = [], services = [], proxy = []] = started;
    const drained = stopEach(proxy);
    await Promise.race([drained, sleep(proxyDrainTime, undefined, { ref: false })]);
    await stopEach(services);
    await drained;
    await stopEach(stores);
  };
  try {
    for (const group of groups) {
      const results = await Promise.allSettled(group.map((spec) => supervise(spec, context)));
      started.push(results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])));
      for (const result of results) if (result.status === 'rejected') throw result.reason;
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { processes: started.flat(), stop };
}

const stopEach = (processes: SupervisedProcess[]) => Promise.all(processes.map(({ stop }) => stop()));
