/** The stack that `make kubernetes` created in the current cluster. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { TestStack } from './test-stack.ts';
import type { Watched } from './under-load.ts';

const run = promisify(execFile);
const deploy = join(import.meta.dirname, '../../deploy');
const overlays = join(deploy, 'kubernetes', 'overlays');

/** Runs `kubectl` in the stack's namespace and returns its output. */
export async function kubectl(...args: string[]): Promise<string> {
  return (await run('kubectl', ['--namespace', 'longhand', ...args], { maxBuffer: 2 ** 28 })).stdout.trim();
}

export type Deployed = 'proxy' | 'expander' | 'tasks';
export type Workload = Deployed | 'expander-cache' | 'tasks-store';

/** Returns a service's pods, oldest first, including terminating pods. `name` is `pod/…`, as kubectl expects. */
export async function pods(service: Workload): Promise<{ name: string; address: string }[]> {
  const oldestFirst = '--sort-by=.metadata.creationTimestamp';
  const columns = '--output=custom-columns=:.metadata.name,:.status.podIP';
  const selector = `--selector=app.kubernetes.io/name=${service}`;
  const listed = await kubectl('get', 'pods', '--no-headers', selector, oldestFirst, columns);
  return [...listed.matchAll(/(\S+) +(\S+)/g)].map(([, name, address = '']) => ({
    name: `pod/${name}`,
    address,
  }));
}

/** Resolves once the rollout is complete. */
export const rolledOut = (name: Workload) => {
  const kind = name === 'expander-cache' || name === 'tasks-store' ? 'statefulset' : 'deployment';
  return kubectl('rollout', 'status', '--timeout', '180s', `${kind}/${name}`);
};

/** Resolves once each service has exactly `replicas` pods. */
export async function scale(replicas: number, ...names: Deployed[]): Promise<void> {
  await kubectl('scale', `--replicas=${replicas}`, ...names.map((name) => `deployment/${name}`));
  for (const name of names) await rolledOut(name);
  for (const name of names) while ((await pods(name)).length !== replicas) await sleep(250);
}

/** Sends a signal such as `KILL` to a pod's program. Process 1 is the pause container. */
export async function signal(pod: string, name: string): Promise<void> {
  const program = `for p in /proc/[0-9]*; do pid=\${p#/proc/}
    if [ "$pid" != 1 ] && [ "$pid" != $$ ] && grep -q '^PPid:.0$' $p/status; then kill -${name} "$pid"; fi; done`;
  // Fails if the container exits first.
  await kubectl('exec', pod, '--', 'sh', '-c', program).catch(() => {});
}

export const cluster: Watched = {
  expanderPort: 30_081,
  tasksPort: 30_082,
  async proxyLog() {
    const all = '--selector=app.kubernetes.io/name=proxy';
    return (await kubectl('logs', all, '--tail=20000')).split('\n');
  },
};

/**
 * Applies the overlay `load` with one replica of each service, for the acceptance suite. `stop` applies `local` again.
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
