import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { acceptanceRules } from './suite/acceptance.ts';
import { browserWalk } from './suite/browser.ts';
import {
  applyStack,
  cluster,
  type Deployed,
  kubectl,
  pods,
  rolledOut,
  scale,
  signal,
} from './testing/cluster.ts';
import { openSession } from './testing/session.ts';
import { replicasThatServe, underLoad, writers } from './testing/under-load.ts';

const deploy = join(import.meta.dirname, '../deploy/kubernetes');
const { expanderPort, tasksPort } = cluster;
const deployments: Deployed[] = ['proxy', 'expander', 'tasks'];

const first = async (name: Deployed) => (await pods(name))[0]?.name ?? '';

describe('The stack in Kubernetes', () => {
  let stack: Awaited<ReturnType<typeof applyStack>>;
  beforeAll(async () => {
    stack = await applyStack();
  });
  afterAll(() => stack?.stop());

  acceptanceRules(() => stack);
  browserWalk(() => stack);
});

describe('No request fails', () => {
  beforeAll(() => scale(2, ...deployments));

  test.each(deployments)('during a rollout of %s', async (name) => {
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

  test('while expander and tasks scale up and down', async () => {
    await scale(1, 'expander', 'tasks');
    const { failures } = await underLoad(cluster, async () => {
      await scale(5, 'expander', 'tasks');
      await expect.poll(() => replicasThatServe(cluster, expanderPort)).toBe(5);
      await expect.poll(() => replicasThatServe(cluster, tasksPort)).toBe(5);
      await scale(2, 'expander', 'tasks');
    });
    expect(failures).toEqual([]);
  });

  test('during a node drain', async () => {
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

  test('during the rollout and rollback of a broken image', async () => {
    const { failures } = await underLoad(cluster, async () => {
      // This image's container starts, but never becomes ready.
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

test('only writes in flight fail when a pod of each service is killed', async () => {
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
  const needed: Record<string, string[]> = {
    proxy: ['expander:3000', 'tasks:3000'],
    expander: ['expander-cache:6379'],
    tasks: ['tasks-store:6379'],
  };
  const ports = {
    proxy: [30_080],
    expander: [3000, 9464],
    tasks: [3000, 9464],
    'expander-cache': [6379],
    'tasks-store': [6379],
  };

  test.each(services)('%s can reach only the services that it needs', async (from) => {
    const addresses: [name: string, address: string][] = [
      ['the API server', '10.96.0.1/443'],
      ['cloud metadata', '169.254.169.254/80'],
    ];
    const [pod] = await pods(from);
    for (const to of services) {
      const other = (await pods(to)).find(({ name }) => name !== pod?.name);
      for (const port of other ? ports[to] : [])
        addresses.push([`${to}:${port}`, `${other?.address}/${port}`]);
    }
    const reached: string[] = [];
    for (const [name, address] of addresses) {
      const connect = ['exec', pod?.name ?? '', '--', 'timeout', '2', 'bash', '-c', `</dev/tcp/${address}`];
      await kubectl(...connect).then(
        () => reached.push(name),
        () => {},
      );
    }
    expect(reached).toEqual(needed[from] ?? []);
  });
});

test('restore.sh restores a backup from the CronJob', async () => {
  const kept = `kept ${randomUUID()}`;
  await openSession(tasksPort).add(kept);
  await kubectl('delete', 'job/by-hand', '--ignore-not-found');
  await kubectl('create', 'job', 'by-hand', '--from=cronjob/backup');
  await kubectl('wait', '--for=condition=Complete', '--timeout=60s', 'job/by-hand');
  const late = `too late ${randomUUID()}`;
  await openSession(tasksPort).add(late);
  await promisify(execFile)(join(deploy, 'restore.sh'));
  const found = async () => {
    const titles = (await openSession(tasksPort).tasks()).map(({ title }) => title);
    return [kept, late].map((title) => titles.includes(title));
  };
  // Some requests return 503 until every replica has reconnected.
  await expect.poll(found).toEqual([true, false]);
});
