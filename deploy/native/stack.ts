import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readEnv, stackVariables } from '@longhand/shared/env.ts';
import { configureProxy } from './configuration.ts';
import { type Part, type PartOptions, startPart } from './part.ts';
import { proxy, redis, type ServicePorts, type Surroundings, service } from './parts.ts';
import { freePorts, proxyPorts } from './ports.ts';

/** Milliseconds the proxy drains alone before the services drain as well: an event stream ends only with its service. */
const proxyGrace = 2_000;

export interface StackOptions {
  /** Where the data and the rendered configuration are kept; made when it is not there. */
  folder: string;
  /** LONGHAND_* and the variables of the services; the port 0 is a free one. */
  env: NodeJS.ProcessEnv;
  /** Gets each line that a part writes. */
  write(part: string, line: string): void;
  /** Processes of the tasks application behind the proxy, 1 unless said. */
  tasksReplicas?: number;
}

export interface Stack {
  /** The proxy's addresses without a slash at the end: for any host name, and each application's own. */
  readonly urls: { readonly proxy: string; readonly expander: string; readonly tasks: string };
  /** The services' operations endpoints, which the proxy does not pass on. */
  readonly operations: { readonly expander: string; readonly tasks: string };
  /** The services without the proxy in front of them; of tasks, its first replica. */
  readonly services: { readonly expander: string; readonly tasks: string };
  /** In the order of their start. */
  readonly parts: readonly Part[];
  /** The proxy drains, the services drain, Redis saves. */
  stop(): Promise<void>;
}

/**
 * Starts the whole stack without Docker: a cache, a store, the two services, and nginx with the templates of
 * the container. A part that dies later is started again.
 *
 * @throws Error for people: a variable that does not fit, a port that is taken, a part that does not start.
 *   Nothing is left running then.
 */
export async function startStack({ folder, env, write, tasksReplicas = 1 }: StackOptions): Promise<Stack> {
  const variables = readEnv(stackVariables, env, ['LONGHAND_']);
  const listen = await proxyPorts(variables, variables.LONGHAND_BIND);
  const ports = await innerPorts(tasksReplicas);
  const around: Surroundings = { folder: resolve(folder), env: { ...env, PATH: searchPath(env) }, write };
  for (const part of ['expander-cache', 'tasks-store', 'proxy']) {
    await mkdir(join(around.folder, part), { recursive: true });
  }
  await configureProxy(join(around.folder, 'proxy'), {
    LONGHAND_LISTEN: bracketed(variables.LONGHAND_BIND),
    LONGHAND_PORT: `${listen.LONGHAND_PORT}`,
    LONGHAND_EXPANDER_PORT: `${listen.LONGHAND_EXPANDER_PORT}`,
    LONGHAND_TASKS_PORT: `${listen.LONGHAND_TASKS_PORT}`,
    LONGHAND_API_RATE: variables.LONGHAND_API_RATE,
    LONGHAND_API_BURST: variables.LONGHAND_API_RATE.replace(/r.*/, ''),
    LONGHAND_EXPANDER_SERVER: servers(ports.expander),
    LONGHAND_TASKS_SERVER: servers(...ports.tasks),
  });
  const { parts, stop } = await startInOrder(
    [
      redis('expander-cache', 'expander', ports.expander.redis, around),
      redis('tasks-store', 'tasks', ports.store, around),
    ],
    [
      service('expander', ports.expander, around),
      ...ports.tasks.map((replica) => service('tasks', replica, around)),
    ],
    proxy({ host: variables.LONGHAND_BIND, port: listen.LONGHAND_PORT }, around),
  );
  const outside = (port: number) => `http://${bracketed(variables.LONGHAND_BIND)}:${port}`;
  const inside = (port = 0) => `http://127.0.0.1:${port}`;
  const [tasks] = ports.tasks;
  return {
    urls: {
      proxy: outside(listen.LONGHAND_PORT),
      expander: outside(listen.LONGHAND_EXPANDER_PORT),
      tasks: outside(listen.LONGHAND_TASKS_PORT),
    },
    operations: { expander: inside(ports.expander.operations), tasks: inside(tasks?.operations) },
    services: { expander: inside(ports.expander.service), tasks: inside(tasks?.service) },
    parts,
    stop,
  };
}

/** Free ports for what only the proxy and the services talk to. */
async function innerPorts(tasksReplicas: number) {
  const { cache, store } = await freePorts('cache', 'store');
  const expander: ServicePorts = { ...(await freePorts('service', 'operations')), redis: cache };
  const tasks: ServicePorts[] = [];
  while (tasks.length < tasksReplicas) {
    tasks.push({ ...(await freePorts('service', 'operations')), redis: store });
  }
  return { expander, tasks, store };
}

/** What stands between `server` and `;` in an upstream. Fixed addresses come back, so none is ever left out. */
const servers = (...replicas: ServicePorts[]) =>
  replicas.map(({ service }) => `127.0.0.1:${service} max_fails=0`).join('; server ');

/** Starts the Redis servers, then the services, then the proxy, each once those before it listen; stops them in reverse. */
async function startInOrder(stores: PartOptions[], services: PartOptions[], proxy: PartOptions) {
  const running: Part[][] = [];
  const stop = async () => {
    const [stores = [], services = [], proxy = []] = running;
    const drained = stopAll(proxy);
    await Promise.race([drained, sleep(proxyGrace, undefined, { ref: false })]);
    await stopAll(services);
    await drained;
    await stopAll(stores);
  };
  try {
    for (const group of [stores, services, [proxy]]) {
      const starts = await Promise.allSettled(group.map(startPart));
      running.push(starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : [])));
      for (const start of starts) if (start.status === 'rejected') throw start.reason;
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { parts: running.flat(), stop };
}

const stopAll = (parts: Part[]) => Promise.all(parts.map((part) => part.stop()));

/** PATH with the folders of Debian's nginx, which not every user's has. */
export const searchPath = (env: NodeJS.ProcessEnv) => `${env.PATH}:/usr/local/sbin:/usr/sbin`;

const bracketed = (address: string) => (address.includes(':') ? `[${address}]` : address);
