import { join } from 'node:path';
import { type Deployed, kubectl, pods, rolledOut, scale } from '@longhand/deploy/testing/kubernetes.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cluster } from './testing/kubernetes.ts';
import { startRequests } from './testing/load.ts';
import { replicasThatServe, underLoad } from './testing/under-load.ts';

const deployments: Deployed[] = ['proxy', 'expander', 'tasks'];
const component = join(import.meta.dirname, '../deploy/kubernetes/components/autoscaling');

beforeAll(async () => {
  await scale(2, ...deployments);
  await kubectl('apply', '--kustomize', component);
  // As in the component, but it does not wait five minutes, and leaves room on a small node.
  const spec = { maxReplicas: 4, behavior: { scaleDown: { stabilizationWindowSeconds: 15 } } };
  for (const name of deployments)
    await kubectl('patch', 'horizontalpodautoscaler', name, '--patch', JSON.stringify({ spec }));
});
afterAll(async () => {
  await kubectl('delete', '--kustomize', component);
  await scale(2, ...deployments);
});

/** Lists of addresses that the guard refuses: work for a processor, and for no website. */
const body = Array.from({ length: 5_000 }, (_, i) => `http://10.0.0.1/${i}\n`).join('');
const list = {
  port: cluster.expanderPort,
  path: '/api/expand',
  method: 'POST',
  headers: { 'Content-Type': 'text/plain', 'Content-Length': body.length },
  body,
};

test('a busy expander gets more replicas, each of which serves, and loses them again; no request fails', async () => {
  const seconds = { up: 0, down: 0 };
  let most = 0;
  const timed = async (until: () => Promise<unknown>) => {
    const start = Date.now();
    await until();
    return (Date.now() - start) / 1_000;
  };
  const { failures } = await underLoad(cluster, async () => {
    const lists = startRequests(6, () => list, 200, 0);
    seconds.up = await timed(() =>
      expect.poll(async () => (await pods('expander')).length, { timeout: 120_000 }).toBeGreaterThan(2),
    );
    await rolledOut('expander');
    await expect.poll(() => replicasThatServe(cluster, cluster.expanderPort)).toBeGreaterThan(2);
    most = await replicasThatServe(cluster, cluster.expanderPort);
    const { requests, failures } = await lists.stop();
    console.log(`${requests} lists of 5,000 addresses, ${failures.length} failures`);
    expect(failures).toEqual([]);
    seconds.down = await timed(() =>
      expect.poll(async () => (await pods('expander')).length, { timeout: 180_000 }).toBe(2),
    );
  });
  console.log(`more than 2 after ${seconds.up} s, ${most} served, 2 again ${seconds.down} s after the lists`);
  expect(failures).toEqual([]);
}, 420_000);
