import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readEnv, stackVariables } from '@longhand/shared/env.ts';
import { configureProxy } from './configuration.ts';
import { type Part, type PartOptions, startPart } from './part.ts';
import { proxy, redis, type Surroundings, service } from './parts.ts';
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
  const outer = await proxyPorts(variables, variables.LONGHAND_BIND);
  const inner = await freePorts(
    'cache',
    'store',
    'expander',
    'expanderOperations',
    'tasks',
    'tasksOperations',
  );
  const tasksPorts = [{ service: inner.tasks, operations: inner.tasksOperations, redis: inner.store }];
  while (tasksPorts.length < tasksReplicas) {
    tasksPorts.push({ ...(await freePorts('service', 'operations')), redis: inner.store });
  }
  const around: Surroundings = { folder: resolve(folder), env: { ...env, PATH: searchPath(env) }, write };
  for (const part of ['expander-cache', 'tasks-store', 'proxy']) {
    await mkdir(join(around.folder, part), { recursive: true });
  }
  await configureProxy(join(around.folder, 'proxy'), {
    LONGHAND_LISTEN: bracketed(variables.LONGHAND_BIND),
    LONGHAND_PORT: `${outer.LONGHAND_PORT}`,
    LONGHAND_EXPANDER_PORT: `${outer.LONGHAND_EXPANDER_PORT}`,
    LONGHAND_TASKS_PORT: `${outer.LONGHAND_TASKS_PORT}`,
    LONGHAND_API_RATE: variables.LONGHAND_API_RATE,
    LONGHAND_API_BURST: variables.LONGHAND_API_RATE.replace(/r.*/, ''),
    LONGHAND_EXPANDER_SERVER: `127.0.0.1:${inner.expander} max_fails=0`,
    LONGHAND_TASKS_SERVER: tasksPorts
      .map((ports) => `127.0.0.1:${ports.service} max_fails=0`)
      .join('; server '),
  });

  const parts: Part[] = [];
  const start = async (...group: PartOptions[]) => {
    const results = await Promise.allSettled(group.map(startPart));
    for (const result of results) if (result.status === 'fulfilled') parts.push(result.value);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  };
  const stop = async (...names: string[]) => {
    await Promise.all(parts.filter((part) => names.includes(part.name)).map((part) => part.stop()));
  };
  const stopAll = async () => {
    const proxyStopped = stop('proxy');
    await Promise.race([proxyStopped, sleep(proxyGrace)]);
    await stop('expander', 'tasks');
    await proxyStopped;
    await stop('expander-cache', 'tasks-store');
  };
  try {
    await start(
      redis('expander-cache', 'expander', inner.cache, around),
      redis('tasks-store', 'tasks', inner.store, around),
    );
    await start(
      service(
        'expander',
        { service: inner.expander, operations: inner.expanderOperations, redis: inner.cache },
        around,
      ),
      ...tasksPorts.map((ports) => service('tasks', ports, around)),
    );
    await start(proxy({ host: variables.LONGHAND_BIND, port: outer.LONGHAND_PORT }, around));
  } catch (error) {
    await stopAll();
    throw error;
  }
  const at = (port: number, host = bracketed(variables.LONGHAND_BIND)) => `http://${host}:${port}`;
  return {
    urls: {
      proxy: at(outer.LONGHAND_PORT),
      expander: at(outer.LONGHAND_EXPANDER_PORT),
      tasks: at(outer.LONGHAND_TASKS_PORT),
    },
    operations: {
      expander: at(inner.expanderOperations, '127.0.0.1'),
      tasks: at(inner.tasksOperations, '127.0.0.1'),
    },
    services: { expander: at(inner.expander, '127.0.0.1'), tasks: at(inner.tasks, '127.0.0.1') },
    parts,
    stop: stopAll,
  };
}

/** PATH with the folders of Debian's nginx, which not every user's has. */
export const searchPath = (env: NodeJS.ProcessEnv) => `${env.PATH}:/usr/local/sbin:/usr/sbin`;

const bracketed = (address: string) => (address.includes(':') ? `[${address}]` : address);
