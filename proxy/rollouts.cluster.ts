import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Deployed, kubectl, pods, rolledOut, scale } from './testing/kubernetes.ts';
import { startLoad, startRequests } from './testing/load.ts';
import { send } from './testing/send.ts';
import { openSession } from './testing/session.ts';

const deploy = join(import.meta.dirname, '../deploy/kubernetes');
const [expanderPort, tasksPort] = [30_081, 30_082];
const deployments: Deployed[] = ['proxy', 'expander', 'tasks'];

/** Writes to tasks and reads from the expander while `change` runs, and for `least` requests in all. */
async function underLoad(change: () => Promise<unknown>, least = 10_000) {
  const writes = await startLoad(tasksPort, 4);
  // A page that is none comes from the expander, too, and is below no rate.
  let page = 0;
  const nextRead = () => ({ port: expanderPort, path: `/${page++}` });
  const reads = startRequests(4, nextRead, 404, 0);
  await writes.answered(100);
  await change();
  const enough = Promise.all([writes.answered(least / 4), reads.answered(least / 2)]);
  await enough;
  const [written, read] = await Promise.all([writes.stop(), reads.stop()]);
  const requests = written.requests + read.requests;
  const failures = [...written.failures, ...read.failures];
  console.log(`${expect.getState().currentTestName}: ${requests} requests, ${failures.length} failures`);
  return { requests, failures };
}

beforeAll(() => scale(2, ...deployments));
afterAll(() => scale(2, ...deployments));

describe('While clients write and read, no request fails', () => {
  test.each(deployments)('when %s is rolled out anew', async (name) => {
    const before = await pods(name);
    const { requests, failures } = await underLoad(async () => {
      await kubectl('rollout', 'restart', `deployment/${name}`);
      await rolledOut(name);
      await expect.poll(async () => (await pods(name)).length).toBe(2);
    });
    expect(failures).toEqual([]);
    expect(requests).toBeGreaterThanOrEqual(10_000);
    expect((await pods(name)).filter((pod) => before.includes(pod))).toEqual([]);
  });

  test('when expander and tasks are scaled from 1 to 5 to 2, and every replica serves', async () => {
    await scale(1, 'expander', 'tasks');
    await scale(1, 'proxy');
    const { failures } = await underLoad(async () => {
      await scale(5, 'expander', 'tasks');
      await expect.poll(() => replicasThatServe(expanderPort)).toBe(5);
      await expect.poll(() => replicasThatServe(tasksPort)).toBe(5);
      await scale(2, 'expander', 'tasks');
    });
    expect(failures).toEqual([]);
  });

  test('when a pod is deleted', async () => {
    await scale(2, ...deployments);
    const { failures } = await underLoad(async () => {
      for (const name of deployments) await kubectl('delete', (await pods(name))[0] ?? '');
      for (const name of deployments) await rolledOut(name);
    });
    expect(failures).toEqual([]);
  });

  test('when the node is drained, which the budgets hold up where nothing can take over', async () => {
    const [node = ''] = (await kubectl('get', 'nodes', '--output=name')).split('\n');
    const only = '--pod-selector=app.kubernetes.io/name in (proxy,expander,tasks)';
    try {
      const { failures } = await underLoad(async () => {
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
    const { failures } = await underLoad(async () => {
      // It starts, but it is no task list.
      await kubectl('set', 'image', 'deployment/tasks', 'tasks=longhand/shortener:0.1.0');
      await expect(kubectl('rollout', 'status', '--timeout', '20s', 'deployment/tasks')).rejects.toThrow(
        /timed out/,
      );
      await kubectl('rollout', 'undo', 'deployment/tasks');
      await rolledOut('tasks');
    });
    expect(failures).toEqual([]);
  });
});

test('when a pod is killed, only what it was answering fails', async () => {
  await scale(2, ...deployments);
  const { failures } = await underLoad(async () => {
    await kubectl('delete', (await pods('tasks'))[0] ?? '', '--grace-period=0', '--force');
    await rolledOut('tasks');
  });
  // At most one for each connection of the load to each of two proxies.
  expect(failures.length).toBeLessThanOrEqual(8);
});

/** The replicas that a number of requests were answered by, as the proxy's log tells. */
async function replicasThatServe(port: number): Promise<number> {
  const needle = `/spread-${randomUUID()}`;
  await Promise.all(Array.from({ length: 60 }, (_, i) => send(port, `${needle}?u=${i}`)));
  await new Promise((resolve) => setTimeout(resolve, 500));
  const log = (await kubectl('logs', '--tail=20000', 'deployment/proxy')).split('\n');
  const upstreams = log.filter((line) => line.includes(needle)).map((line) => JSON.parse(line).upstream);
  return new Set(upstreams).size;
}

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
    const [pod = ''] = await pods(from);
    for (const to of services) {
      const other = (await pods(to)).find((name) => name !== pod);
      if (!other) continue;
      const address = await kubectl('get', other, '--output=jsonpath={.status.podIP}');
      for (const port of ports[to]) addresses.set(`${from} > ${to}:${port}`, `${address}/${port}`);
    }
    addresses.set(`${from} > the API server`, '10.96.0.1/443');
    addresses.set(`${from} > cloud metadata`, '169.254.169.254/80');
    const reached: string[] = [];
    for (const [pair, address] of addresses) {
      const connect = ['exec', pod, '--', 'timeout', '2', 'bash', '-c', `</dev/tcp/${address}`];
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
