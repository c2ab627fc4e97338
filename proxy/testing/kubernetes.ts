import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ServiceName, TestStack } from './test-stack.ts';

const run = promisify(execFile);
const overlays = join(import.meta.dirname, '../../deploy/kubernetes/overlays');

/** Runs `kubectl` in the namespace of the stack, and returns what it printed. */
export async function kubectl(...args: string[]): Promise<string> {
  const options = { maxBuffer: 256 * 1024 * 1024 };
  return (await run('kubectl', ['--namespace', 'longhand', ...args], options)).stdout.trim();
}

export type Deployed = 'proxy' | 'expander' | 'tasks';

/** Resolves once the Deployment is as it was asked for. */
export const rolledOut = (name: Deployed) =>
  kubectl('rollout', 'status', '--timeout', '180s', `deployment/${name}`);

export async function scale(replicas: number, ...names: Deployed[]): Promise<void> {
  await kubectl('scale', `--replicas=${replicas}`, ...names.map((name) => `deployment/${name}`));
  for (const name of names) await rolledOut(name);
  // The pods of before may serve for a while.
  for (const name of names) {
    while ((await pods(name)).length !== replicas) await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

/** The names of the pods of a service, oldest first. */
export async function pods(service: ServiceName): Promise<string[]> {
  const selector = `--selector=app.kubernetes.io/name=${service}`;
  const names = await kubectl(
    'get',
    'pods',
    selector,
    '--sort-by=.metadata.creationTimestamp',
    '--output=name',
  );
  return names.split('\n').filter(Boolean);
}

/** Signals the program of a service's oldest pod. In the pod's PID namespace, process 1 is not it. */
async function signal(service: ServiceName, name: string): Promise<void> {
  const [pod = ''] = await pods(service);
  const program = `for p in /proc/[0-9]*; do pid=\${p#/proc/}
    if [ "$pid" != 1 ] && [ "$pid" != $$ ] && grep -q '^PPid:.0$' $p/status; then kill -${name} "$pid"; fi; done`;
  // Ends with the container, if that ends first.
  await kubectl('exec', pod, '--', 'sh', '-c', program).catch(() => {});
}

/** The stack of the overlay `load`, with one replica of each service, for the acceptance suite. */
export async function applyStack(): Promise<TestStack> {
  await run('kubectl', ['apply', '-k', join(overlays, 'load')]);
  await kubectl('wait', '--for=condition=Ready', '--timeout=120s', 'pod/shortener');
  const address = await kubectl('get', 'pod/shortener', '--output=jsonpath={.status.podIP}');
  await kubectl('set', 'env', 'deployment/expander', `EXPANDER_ALLOWED_NETWORKS=${address}/32`);
  await scale(1, 'expander', 'tasks', 'proxy');
  return {
    port: 30_080,
    expanderPort: 30_081,
    tasksPort: 30_082,
    shortener: 'http://shortener.longhand.svc.cluster.local:9000',
    proxyLog: async () => (await kubectl('logs', '--tail=20000', 'deployment/proxy')).split('\n'),
    pause: (service) => signal(service, 'STOP'),
    resume: (service) => signal(service, 'CONT'),
    kill: (service) => signal(service, 'KILL'),
    /** Back to the overlay `local`. */
    async stop() {
      await kubectl('set', 'env', 'deployment/expander', 'EXPANDER_ALLOWED_NETWORKS-');
      await run('kubectl', ['apply', '-k', join(overlays, 'local')]);
      await scale(2, 'expander', 'tasks', 'proxy');
    },
  };
}
