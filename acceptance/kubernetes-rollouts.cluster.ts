import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startLoad } from '@longhand/loadtest/load-generator.ts';
import { send } from '@longhand/shared/testing/send.ts';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { cluster, type Deployed, kubectl, pods, rolledOut, scale, signal } from './testing/cluster.ts';
import { openSession } from './testing/session.ts';
import { replicasThatServe, underLoad, writers } from './testing/under-load.ts';

const deploy = join(import.meta.dirname, '../deploy/kubernetes');
const { expanderPort, tasksPort } = cluster;
const deployments: Deployed[] = ['proxy', 'expander', 'tasks'];

const first = async (name: Deployed) => (await pods(name))[0]?.name ?? '';

beforeAll(() => scale(2, ...deployments));
afterAll(() => scale(2, ...deployments));

describe('While clients write and read, no request fails', () => {
  test.each(deployments)('when %s is rolled out anew', async (name) => {
    const before = (await pods(name)).map((pod) => pod.name);
    const { requests, failures } = await underLoad(cluster, async () => {
      await kubectl('rollout', 'restart', `deployment/${name}`);
      await rolledOut(name);
      await expect.poll(async () => (await pods(name)).length).toBe(2);
    });
    expect(failures).toEqual([]);
    expect(requests).toBeGreaterThanOrEqual(30_000);
    expect((await pods(name)).filter((pod) => before.includes(pod.name))).toEqual([]);
  });

  test('when expander and tasks are scaled from 1 to 5 to 2, and every replica serves', async () => {
    await scale(1, 'expander', 'tasks');
    const { failures } = await underLoad(cluster, async () => {
      await scale(5, 'expander', 'tasks');
      await expect.poll(() => replicasThatServe(cluster, expanderPort)).toBe(5);
      await expect.poll(() => replicasThatServe(cluster, tasksPort)).toBe(5);
      await scale(2, 'expander', 'tasks');
    });
    expect(failures).toEqual([]);
  });

  test('when a pod is deleted', async () => {
    const { failures } = await underLoad(cluster, async () => {
      for (const name of deployments) await kubectl('delete', await first(name));
      for (const name of deployments) await rolledOut(name);
    });
    expect(failures).toEqual([]);
  });

  test('when the node is drained, which the budgets hold up where nothing can take over', async () => {
    const [node = ''] = (await kubectl('get', 'nodes', '--output=name')).split('\n');
    const only = '--pod-selector=app.kubernetes.io/name in (proxy,expander,tasks)';
    try {
      const { failures } = await underLoad(cluster, async () => {
        const drained = kubectl('drain', node, only, '--delete-emptydir-data', '--timeout=30s');
        await expect(drained).rejects.toThrow(/disruption budget/);
        for (const name of deployments) expect((await pods(name)).length).toBeGreaterThan(0);
      });
      expect(failures).toEqual([]);
    } finally {
      await kubectl('uncordon', node);
    }
    for (const name of deployments) await rolledOut(name);
  });

  test('when an image is broken: it gets no requests, and the one before is brought back', async () => {
    const { failures } = await underLoad(cluster, async () => {
      // It starts, but it is not a task list.
      await kubectl('set', 'image', 'deployment/tasks', 'service=redis:8.0.2');
      await expect(kubectl('rollout', 'status', '--timeout', '20s', 'deployment/tasks')).rejects.toThrow(
        /timed out/,
      );
      await kubectl('rollout', 'undo', 'deployment/tasks');
      await rolledOut('tasks');
    });
    expect(failures).toEqual([]);
  });
});

describe('When a pod of each service', () => {
  /** Returns what failed, and how many milliseconds after the kill it was sent. */
  async function lose(kill: (pod: string) => Promise<unknown>) {
    await scale(2, ...deployments);
    let killed = 0;
    const { failures } = await underLoad(cluster, async () => {
      await Promise.all([kill(await first('tasks')), kill(await first('expander'))]);
      killed = Date.now();
      for (const name of deployments) await rolledOut(name);
    });
    return failures.map((failure) => ({ ...failure, later: failure.at - failure.milliseconds - killed }));
  }

  test('is killed, only writes in flight fail', async () => {
    const failures = await lose((pod) => signal(pod, 'KILL'));
    expect(failures.filter(({ later }) => later > 0)).toEqual([]);
    expect(failures.length).toBeLessThanOrEqual(writers);
  });

  // Nothing answers at the address any more. nginx waits 2 s for a connection, then asks another replica, unless its list of
  // replicas has changed meanwhile.
  test('is deleted by force, nothing fails that is sent 3 s later', async () => {
    const failures = await lose((pod) => kubectl('delete', pod, '--grace-period=0', '--force'));
    expect(failures.filter(({ later }) => later > 3_000)).toEqual([]);
  });
});

describe('From inside the pods', () => {
  const services = ['proxy', 'expander', 'tasks', 'expander-cache', 'tasks-store'] as const;
  const allowed = [
    'proxy > expander:3000',
    'proxy > tasks:3000',
    'expander > expander-cache:6379',
    'tasks > tasks-store:6379',
  ];

  test.each(services)('%s reaches whom it needs, and nobody else', async (from) => {
    const addresses = new Map<string, string>();
    const ports = {
      proxy: [30_080],
      expander: [3000, 9464],
      tasks: [3000, 9464],
      'expander-cache': [6379],
      'tasks-store': [6379],
    };
    const [pod] = await pods(from);
    for (const to of services) {
      const other = (await pods(to)).find(({ name }) => name !== pod?.name);
      if (!other) continue;
      for (const port of ports[to]) addresses.set(`${from} > ${to}:${port}`, `${other.address}/${port}`);
    }
    addresses.set(`${from} > the API server`, '10.96.0.1/443');
    addresses.set(`${from} > cloud metadata`, '169.254.169.254/80');
    const reached: string[] = [];
    for (const [pair, address] of addresses) {
      const connect = ['exec', pod?.name ?? '', '--', 'timeout', '2', 'bash', '-c', `</dev/tcp/${address}`];
      await kubectl(...connect).then(
        () => reached.push(pair),
        () => {},
      );
    }
    expect(reached).toEqual(allowed.filter((pair) => pair.startsWith(`${from} > `)));
  });
});

test('a backup is made by the CronJob, and brought back', async () => {
  const kept = `kept ${randomUUID()}`;
  await openSession(tasksPort).add(kept);
  await kubectl('delete', 'job/by-hand', '--ignore-not-found');
  await kubectl('create', 'job', 'by-hand', '--from=cronjob/backup');
  await kubectl('wait', '--for=condition=Complete', '--timeout=60s', 'job/by-hand');
  const late = `too late ${randomUUID()}`;
  await openSession(tasksPort).add(late);
  await promisify(execFile)(join(deploy, 'restore.sh'));
  await expect.poll(async () => (await send(tasksPort, '/')).status).toBe(200);
  const titles = (await openSession(tasksPort).tasks()).map(({ title }) => title);
  expect(titles).toContain(kept);
  expect(titles).not.toContain(late);
});

/** Lists of addresses that the guard refuses: work for a processor, and for no website. */
const body = Array.from({ length: 5_000 }, (_, i) => `http://10.0.0.1/${i}\n`).join('');
const list = {
  url: `http://127.0.0.1:${expanderPort}/api/expand`,
  headers: { 'Content-Type': 'text/plain' },
  body,
};

test('a busy expander gets more replicas, each of which serves, and loses them again; no request fails', async () => {
  const component = join(deploy, 'components/autoscaling');
  onTestFinished(async () => {
    await kubectl('delete', '--kustomize', component);
    await scale(2, ...deployments);
  });
  await scale(2, ...deployments);
  await kubectl('apply', '--kustomize', component);
  // As in the component, but it does not wait five minutes, and leaves room on a small node.
  const spec = { maxReplicas: 4, behavior: { scaleDown: { stabilizationWindowSeconds: 15 } } };
  for (const name of deployments)
    await kubectl('patch', 'horizontalpodautoscaler', name, '--patch', JSON.stringify({ spec }));
  const count = async () => (await pods('expander')).length;
  const { failures } = await underLoad(cluster, async () => {
    const busy = startLoad(() => list, { connections: 6 });
    await expect.poll(count, { timeout: 120_000 }).toBeGreaterThan(2);
    await rolledOut('expander');
    await expect.poll(() => replicasThatServe(cluster, expanderPort)).toBeGreaterThan(2);
    expect((await busy.stop()).filter(({ right }) => !right)).toEqual([]);
    await expect.poll(count, { timeout: 180_000 }).toBe(2);
  });
  expect(failures).toEqual([]);
}, 420_000);
