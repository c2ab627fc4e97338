import { EventEmitter, on } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStack } from '@longhand/deploy/native/stack.ts';
import { startShortener } from '@longhand/shortener';

/** What the load goes to. */
export interface Target {
  /** What the scripts read from their environment. */
  readonly variables: Record<string, string>;
  /** Replaces one process of the tasks application by another; resolves once the new one listens. */
  replaceNext?(): Promise<void>;
  stop(): Promise<void>;
}

const addresses = {
  PROXY_URL: 'http://127.0.0.1:8080',
  EXPANDER_URL: 'http://127.0.0.1:8081',
  TASKS_URL: 'http://127.0.0.1:8082',
};

/** Where more can be reached of a stack that is up: a service past the proxy, the operations endpoints. */
const optional = ['TASKS_DIRECT_URL', 'EXPANDER_OPS_URL', 'TASKS_OPS_URL', 'SHORTENER_URL'];

/**
 * The stack that answers at the addresses of the environment, by default the local ones, with the local
 * shortener for its links; undefined where none answers.
 */
export async function runningStack(env: NodeJS.ProcessEnv): Promise<Target | undefined> {
  const urls = Object.fromEntries(
    Object.entries(addresses).map(([name, otherwise]) => [name, env[name] || otherwise]),
  );
  const answers = await Promise.allSettled(Object.values(urls).map((url) => fetch(url)));
  if (answers.some(({ status }) => status === 'rejected')) return undefined;
  const variables = { ...urls };
  for (const name of optional) if (env[name]) variables[name] = env[name];
  if (variables.SHORTENER_URL) return { variables, async stop() {} };
  const shortener = await startShortener();
  return { variables: { ...variables, SHORTENER_URL: shortener.url }, stop: shortener.close };
}

/** A whole stack without Docker on free ports, and the local shortener, which its expander may ask. */
export async function ownStack(tasksReplicas: number): Promise<Target> {
  const folder = await mkdtemp(join(tmpdir(), 'longhand-load-'));
  const tasks = new EventEmitter();
  // Told by its log, which may come later than the port is open: all of it, before a process is replaced.
  const allListen = listens(tasks, tasksReplicas);
  const shortener = await startShortener();
  const stack = await startStack({
    folder,
    env: {
      ...process.env,
      LONGHAND_PORT: '0',
      LONGHAND_EXPANDER_PORT: '0',
      LONGHAND_TASKS_PORT: '0',
      EXPANDER_ALLOWED_NETWORKS: '127.0.0.0/8',
    },
    tasksReplicas,
    write(part, line) {
      if (part === 'tasks' && line.includes('"msg":"listening"')) tasks.emit('listening');
      else if (/"level":"(error|fatal)"|"level":"warn".*redis/.test(line)) console.error(`${part}: ${line}`);
    },
  });
  await allListen;
  const replicas = stack.parts.filter(({ name }) => name === 'tasks');
  let next = 0;
  return {
    variables: {
      PROXY_URL: stack.urls.proxy,
      EXPANDER_URL: stack.urls.expander,
      TASKS_URL: stack.urls.tasks,
      TASKS_DIRECT_URL: stack.services.tasks,
      EXPANDER_OPS_URL: stack.operations.expander,
      TASKS_OPS_URL: stack.operations.tasks,
      SHORTENER_URL: shortener.url,
    },
    async replaceNext() {
      const { pid } = replicas[next++ % replicas.length] ?? {};
      if (pid === undefined) return;
      const another = listens(tasks, 1);
      process.kill(pid, 'SIGTERM');
      await another;
    },
    async stop() {
      await stack.stop();
      await shortener.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Resolves once so many more processes have said that they listen. */
async function listens(processes: EventEmitter, count: number): Promise<void> {
  let left = count;
  for await (const _ of on(processes, 'listening')) if (--left === 0) return;
}
