/** The stack that `make kubernetes` has made in the cluster of the current context. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { TestStack } from './test-stack.ts';
import type { Watched } from './under-load.ts';

const run = promisify(execFile);
const deploy = join(import.meta.dirname, '../../deploy');
const overlays = join(deploy, 'kubernetes', 'overlays');

/** Runs `kubectl` in the namespace of the stack, and returns its output. */
export async function kubectl(...args: string[]): Promise<string> {
  const options = { maxBuffer: 2 ** 28 };
  return (await run('kubectl', ['--namespace', 'longhand', ...args], options)).stdout.trim();
}

export type Deployed = 'proxy' | 'expander' | 'tasks';
export type Workload = Deployed | 'expander-cache' | 'tasks-store';

export interface Pod {
  /** As kubectl expects it: `pod/…`. */
  name: string;
  address: string;
}

/** The pods of a service, oldest first, including those that are terminating. */
export async function pods(service: Workload): Promise<Pod[]> {
  const oldestFirst = '--sort-by=.metadata.creationTimestamp';
  const selector = `--selector=app.kubernetes.io/name=${service}`;
  const { items } = JSON.parse(await kubectl('get', 'pods', selector, oldestFirst, '--output=json'));
  return items.map(({ metadata, status }: Listed) => ({
    name: `pod/${metadata.name}`,
    address: status.podIP ?? '',
  }));
}

/** The part of the API's description that we read. */
interface Listed {
  metadata: { name: string };
  status: { podIP?: string };
}

/** Resolves once the rollout of the workload is complete. */
export const rolledOut = (name: Workload) => {
  const kind = name === 'expander-cache' || name === 'tasks-store' ? 'statefulset' : 'deployment';
  return kubectl('rollout', 'status', '--timeout', '180s', `${kind}/${name}`);
};

/** Resolves once there are `replicas` pods, and all others have ended. */
export async function scale(replicas: number, ...names: Deployed[]): Promise<void> {
  await kubectl('scale', `--replicas=${replicas}`, ...names.map((name) => `deployment/${name}`));
  for (const name of names) await rolledOut(name);
  for (const name of names) while ((await pods(name)).length !== replicas) await sleep(250);
}

/** Sends a signal, such as `KILL`, to the program of a pod, which is not process 1 of its PID namespace. */
export async function signal(pod: string, name: string): Promise<void> {
  const program = `for p in /proc/[0-9]*; do pid=\${p#/proc/}
    if [ "$pid" != 1 ] && [ "$pid" != $$ ] && grep -q '^PPid:.0$' $p/status; then kill -${name} "$pid"; fi; done`;
  // Fails if the container exits first.
  await kubectl('exec', pod, '--', 'sh', '-c', program).catch(() => {});
}

/** Its ports and the log of its proxies. */
export const cluster: Watched = {
  expanderPort: 30_081,
  tasksPort: 30_082,
  /** The lines of all proxies. */
  async proxyLog() {
    const all = '--selector=app.kubernetes.io/name=proxy';
    return (await kubectl('logs', all, '--tail=20000')).split('\n');
  },
};

/**
 * The stack of the overlay `load`, with one replica of each service, for the acceptance suite; `stop` goes back to the
 * overlay `local`.
 */
export async function applyStack(): Promise<TestStack & { stop(): Promise<void> }> {
  const { stdout: image } = await run(join(deploy, 'kubernetes/build.sh'), ['shortener']);
  const { KUBERNETES_LOAD } = process.env;
  if (KUBERNETES_LOAD) await run('sh', ['-c', `${KUBERNETES_LOAD} ${image.trim()}`]);
  await run('kubectl', ['apply', '-k', join(overlays, 'load')]);
  await kubectl('wait', '--for=condition=Ready', '--timeout=120s', 'pod/shortener');
  const address = await kubectl('get', 'pod/shortener', '--output=jsonpath={.status.podIP}');
  await kubectl('set', 'env', 'deployment/expander', `EXPANDER_ALLOWED_NETWORKS=${address}/32`);
  await scale(1, 'expander', 'tasks', 'proxy');
  return {
    ...cluster,
    port: 30_080,
    shortener: 'http://shortener.longhand.svc.cluster.local:9000',
    kill: async (service) => signal((await pods(service))[0]?.name ?? '', 'KILL'),
    async stop() {
      await kubectl('set', 'env', 'deployment/expander', 'EXPANDER_ALLOWED_NETWORKS-');
      await run('kubectl', ['apply', '-k', join(overlays, 'local')]);
      await scale(2, 'expander', 'tasks', 'proxy');
    },
  };
}
