import {
  addShortener,
  forbidShortener,
  kubectl,
  pods,
  rolledOut,
  scale,
  signal,
  type Workload,
} from '@longhand/deploy/testing/kubernetes.ts';
import type { RehearsedStack } from './stack.ts';
import { until } from './until.ts';

const folders = { proxy: '/run', 'expander-cache': '/data', 'tasks-store': '/data' };
const workloads: Workload[] = ['expander-cache', 'tasks-store', 'expander', 'tasks', 'proxy'];

/** The pods of a service that are to stay, oldest first. */
const staying = async (service: Workload) =>
  (await pods(service)).flatMap(({ name, ending }) => (ending ? [] : [name]));
const only = async (service: Workload) => (await staying(service))[0] ?? '';
const inPod = async (service: Workload, ...command: string[]) =>
  kubectl('exec', await only(service), '--', ...command);

/** What is read of a pod whose container has ended. */
interface Ended {
  spec: { containers: [{ lifecycle?: { preStop?: { sleep?: { seconds: number } } } }] };
  status: { containerStatuses: [{ state: { terminated: { exitCode: number; finishedAt: string } } }] };
}

/** The stack that `make kubernetes` has made in the cluster of kubectl's context. A shortener is added to it meanwhile. */
export async function startKubernetes(): Promise<RehearsedStack> {
  const address = await addShortener();
  await scale(2, 'expander', 'tasks', 'proxy');
  const {
    PROXY_URL = 'http://127.0.0.1:30080',
    EXPANDER_URL = 'http://127.0.0.1:30081',
    TASKS_URL = 'http://127.0.0.1:30082',
  } = process.env;
  const all = async () => (await Promise.all(workloads.map(pods))).flat();
  const settled = async () => {
    for (const name of workloads) await rolledOut(name);
    // Which may speak of a pod that has just ended.
    await until(async () => (await all()).every(({ ready, ending }) => ready || ending), 90);
    await until(async () => (await fetch(PROXY_URL).catch(() => undefined))?.ok === true, 60);
  };
  return {
    kind: 'kubernetes',
    urls: { proxy: PROXY_URL, expander: EXPANDER_URL, tasks: TASKS_URL },
    shortener: 'http://shortener:9000',
    otherShortener: `http://${address}:9000`,
    smallDisk: false,
    replicas: staying,
    signal: (pod, name) => signal(pod, name.slice(3)),
    async terminate(_, pod) {
      const start = Date.now();
      const state = '--for=jsonpath={.status.containerStatuses[0].state.terminated.finishedAt}';
      const ended = kubectl('wait', pod, state, '--timeout=60s', '--output=json');
      await Promise.all([ended, kubectl('delete', pod)]);
      const { spec, status }: Ended = JSON.parse(await ended);
      const { exitCode, finishedAt } = status.containerStatuses[0].state.terminated;
      // It sleeps before it is signaled. The time of its end is in whole seconds.
      const sleep = spec.containers[0].lifecycle?.preStop?.sleep?.seconds ?? 0;
      const seconds = Math.max(0, (Date.parse(finishedAt) - start) / 1_000 - sleep);
      return { how: `code ${exitCode}`, seconds };
    },
    exits: async (service, since) =>
      (await pods(service)).flatMap(({ ended = 0 }) => (ended >= since.getTime() ? [ended] : [])),
    settled,
    /** The next end of a container that has ended before is followed by a wait of up to five minutes. */
    async renew() {
      const ended = (await all()).filter(({ restarts }) => restarts > 0).map(({ name }) => name);
      if (ended.length > 0) await kubectl('delete', ...ended);
      await settled();
    },
    redis: (service, ...command) => inPod(service, 'redis.sh', 'cli', ...command),
    inside: (service, script) => inPod(service, 'sh', '-c', `cd ${folders[service]} && ${script}`),
    async log(service, since) {
      const lines: string[] = [];
      for (const pod of await staying(service))
        lines.push(...(await kubectl('logs', pod, `--since-time=${since.toISOString()}`)).split('\n'));
      return lines;
    },
    stop: forbidShortener,
  };
}
