import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { send } from '@longhand/shared/testing/send.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
  test.each(deployments)('when %s is rolled out again', async (name) => {
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

  test('when the node is drained, the budgets keep the pods that nothing can replace', async () => {
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

  test('when a broken image is rolled out and rolled back', async () => {
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

test('when a pod of each service is killed, only writes in flight fail', async () => {
  await scale(2, ...deployments);
  let killed = 0;
  const { failures } = await underLoad(cluster, async () => {
    await Promise.all([signal(await first('tasks'), 'KILL'), signal(await first('expander'), 'KILL')]);
    killed = Date.now();
    for (const name of deployments) await rolledOut(name);
  });
  expect(failures.filter(({ at, milliseconds }) => at - milliseconds > killed)).toEqual([]);
  expect(failures.length).toBeLessThanOrEqual(writers);
});

describe('From inside the pods', () => {
  const services = ['proxy', 'expander', 'tasks', 'expander-cache', 'tasks-store'] as const;
  const allowed = [
    'proxy > expander:3000',
    'proxy > tasks:3000',
    'expander > expander-cache:6379',
    'tasks > tasks-store:6379',
  ];

  test.each(services)('%s reaches the services that it needs, and no other', async (from) => {
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

test('the CronJob makes a backup, and restore.sh brings it back', async () => {
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
