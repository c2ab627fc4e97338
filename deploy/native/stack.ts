import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readEnv, stackVariables } from '@longhand/shared/env.ts';
import { freePorts } from '@longhand/shared/testing/free-port.ts';
import { configureProxy, workers } from './configuration.ts';
import { proxyPorts } from './ports.ts';
import { proxy, redis, type ServicePorts, service } from './processes.ts';
import { type ProcessContext, type ProcessSpec, type SupervisedProcess, supervise } from './supervisor.ts';

/** Milliseconds nginx drains alone before the services drain too: an event stream ends only when its service does. */
const proxyDrainTime = 2_000;

/** Its `env` has LONGHAND_* and the variables of the services; port 0 means any free port. */
export interface StackOptions extends ProcessContext {
  /** Holds the data and the rendered configuration; created if it does not exist. */
  folder: string;
  /** Replicas of the tasks service behind the proxy, 1 by default. */
  tasksReplicas?: number;
}

/** URLs have no slash at the end. */
export interface Stack {
  /** The proxy: for all host names, and each application's own port. */
  readonly urls: { readonly proxy: string; readonly expander: string; readonly tasks: string };
  /** The services' operations endpoints, which the proxy does not expose. */
  readonly operations: { readonly expander: string; readonly tasks: string };
  /** The services, bypassing the proxy; for tasks, the first replica. */
  readonly services: { readonly expander: string; readonly tasks: string };
  /** In start order. */
  readonly processes: readonly SupervisedProcess[];
  /** Drains the proxy and the services, then stops Redis. */
  stop(): Promise<void>;
}

/**
 * Starts the whole stack without Docker: a cache, a store, the two services, and nginx with the container's templates.
 * A process that exits later is restarted.
 *
 * @throws Error with a message for people: an invalid variable, a port that is taken, a process that does not start.
 *   Nothing keeps running then.
 */
export async function startStack({ folder, env, onLine, tasksReplicas = 1 }: StackOptions): Promise<Stack> {
  const variables = readEnv(stackVariables, env, ['LONGHAND_']);
  const listen = await proxyPorts(variables, variables.LONGHAND_BIND);
  const ports = await backendPorts(tasksReplicas);
  const folderOf = (process: string) => join(resolve(folder), process);
  for (const process of ['expander-cache', 'tasks-store', 'proxy']) {
    await mkdir(folderOf(process), { recursive: true });
  }
  const host = variables.LONGHAND_BIND.includes(':')
    ? `[${variables.LONGHAND_BIND}]`
    : variables.LONGHAND_BIND;
  await configureProxy(folderOf('proxy'), {
    LONGHAND_LISTEN: host,
    LONGHAND_PORT: `${listen.LONGHAND_PORT}`,
    LONGHAND_EXPANDER_PORT: `${listen.LONGHAND_EXPANDER_PORT}`,
    LONGHAND_TASKS_PORT: `${listen.LONGHAND_TASKS_PORT}`,
    LONGHAND_API_RATE: variables.LONGHAND_API_RATE,
    LONGHAND_API_BURST: variables.LONGHAND_API_RATE.replace(/r.*/, ''),
    ...workers(variables.LONGHAND_WORKERS),
    LONGHAND_EXPANDER_SERVER: upstreamServers(ports.expander),
    LONGHAND_TASKS_SERVER: upstreamServers(...ports.tasks),
  });
  const { processes, stop } = await startInOrder(
    [
      [
        redis('expander-cache', 'expander', ports.expander.redis, folderOf('expander-cache')),
        redis('tasks-store', 'tasks', ports.store, folderOf('tasks-store')),
      ],
      [service('expander', ports.expander), ...ports.tasks.map((replica) => service('tasks', replica))],
      [proxy(folderOf('proxy'), { host: variables.LONGHAND_BIND, port: listen.LONGHAND_PORT })],
    ],
    { env: { ...env, PATH: searchPath(env) }, onLine },
  );
  const publicUrl = (port: number) => `http://${host}:${port}`;
  const localUrl = (port = 0) => `http://127.0.0.1:${port}`;
  const [tasks] = ports.tasks;
  return {
    urls: {
      proxy: publicUrl(listen.LONGHAND_PORT),
      expander: publicUrl(listen.LONGHAND_EXPANDER_PORT),
      tasks: publicUrl(listen.LONGHAND_TASKS_PORT),
    },
    operations: { expander: localUrl(ports.expander.operations), tasks: localUrl(tasks?.operations) },
    services: { expander: localUrl(ports.expander.service), tasks: localUrl(tasks?.service) },
    processes,
    stop,
  };
}

/** Free ports for what only the proxy and the services connect to. */
async function backendPorts(tasksReplicas: number) {
  const { cache, store } = await freePorts('cache', 'store');
  const servicePorts = async (redis: number): Promise<ServicePorts> => ({
    ...(await freePorts('service', 'operations')),
    redis,
  });
  const expander = await servicePorts(cache);
  const tasks: ServicePorts[] = [];
  while (tasks.length < tasksReplicas) tasks.push(await servicePorts(store));
  return { expander, tasks, store };
}

/** The `server` directives of an upstream. The addresses are fixed and come back, so nginx never leaves one out. */
const upstreamServers = (...replicas: ServicePorts[]) =>
  replicas.map(({ service }) => `127.0.0.1:${service} max_fails=0`).join('; server ');

/** Starts Redis, then the services, then the proxy, each group once the one before it is ready; stops in reverse. */
async function startInOrder(groups: ProcessSpec[][], context: ProcessContext) {
  const started: SupervisedProcess[][] = [];
  const stop = async () => {
    const [stores = [], services = [], proxy = []] = started;
    const drained = stopAll(proxy);
    await Promise.race([drained, sleep(proxyDrainTime, undefined, { ref: false })]);
    await stopAll(services);
    await drained;
    await stopAll(stores);
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

const stopAll = (processes: SupervisedProcess[]) => Promise.all(processes.map(({ stop }) => stop()));

/** PATH with the folders of Debian's nginx, which users other than root may not have. */
export const searchPath = (env: NodeJS.ProcessEnv) => `${env.PATH}:/usr/local/sbin:/usr/sbin`;
