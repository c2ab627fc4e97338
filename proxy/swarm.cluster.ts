import { connect } from 'node:net';
import { docker } from '@longhand/shared/testing/engine.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startRequests } from './testing/load.ts';
import { replicasThatServe, underLoad, type Watched } from './testing/under-load.ts';

const { LONGHAND_EXPANDER_PORT = '8081', LONGHAND_TASKS_PORT = '8082' } = process.env;

/** The stack that `make swarm` has deployed on this machine. */
const swarm: Watched = {
  expanderPort: Number(LONGHAND_EXPANDER_PORT),
  tasksPort: Number(LONGHAND_TASKS_PORT),
  proxyLog: async () =>
    (await docker('service', 'logs', '--raw', '--tail', '20000', 'longhand_proxy')).split('\n'),
};
const applications = ['expander', 'tasks'] as const;

/** Resolves once the update is over, or was rolled back. */
const update = (service: string, ...options: string[]) =>
  docker('service', 'update', '--quiet', '--detach=false', ...options, `longhand_${service}`);
const scale = (replicas: number) =>
  docker('service', 'scale', '--detach=false', ...applications.map((name) => `longhand_${name}=${replicas}`));
/** The ids of the replicas that are meant to run. */
const replicas = async (service: string) =>
  (await docker('service', 'ps', '--quiet', '--filter', 'desired-state=running', `longhand_${service}`))
    .split('\n')
    .toSorted();
const inspect = (service: string, format: string) =>
  docker('service', 'inspect', '--format', format, `longhand_${service}`);

beforeAll(() => scale(2));
afterAll(() => scale(2));

describe('While clients write and read, no request fails', () => {
  test.each(applications)('when %s is updated', async (name) => {
    const before = await replicas(name);
    const { requests, failures } = await underLoad(swarm, () => update(name, '--force'));
    expect(failures).toEqual([]);
    expect(requests).toBeGreaterThanOrEqual(30_000);
    expect((await replicas(name)).filter((id) => before.includes(id))).toEqual([]);
  });

  test('when an update is broken, which is rolled back by itself', async () => {
    const image = await inspect('tasks', '{{.Spec.TaskTemplate.ContainerSpec.Image}}');
    // It starts, but it is no task list.
    const broken = () => update('tasks', '--image', 'redis:8', '--no-resolve-image');
    const { failures } = await underLoad(swarm, broken);
    expect(failures).toEqual([]);
    expect(await inspect('tasks', '{{.UpdateStatus.State}}')).toBe('rollback_completed');
    expect(await inspect('tasks', '{{.Spec.TaskTemplate.ContainerSpec.Image}}')).toBe(image);
  });

  test('when expander and tasks are scaled from 1 to 5 to 2, and every replica serves', async () => {
    await scale(1);
    const { failures } = await underLoad(swarm, async () => {
      await scale(5);
      await expect.poll(() => replicasThatServe(swarm, swarm.expanderPort)).toBe(5);
      await expect.poll(() => replicasThatServe(swarm, swarm.tasksPort)).toBe(5);
      await scale(2);
      await expect.poll(() => replicasThatServe(swarm, swarm.tasksPort)).toBe(2);
    });
    expect(failures).toEqual([]);
  });
});

test('an update of the proxy, which alone has the ports, refuses connections for less than 6 s', async () => {
  // Both last until the proxy has gone: an open page with its events, and a connection that nobody uses.
  const held = [swarm.tasksPort, swarm.tasksPort].map((port) =>
    connect(port, '127.0.0.1').on('error', () => {}),
  );
  held[0]?.write('GET /tasks/events HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const page = { port: swarm.tasksPort, path: '/' };
  const loads = [
    startRequests(2, () => page, 200, 20),
    startRequests(2, () => ({ ...page, agent: false }), 200, 20),
  ];
  await Promise.all(loads.map((load) => load.answered(100)));
  await update('proxy', '--force');
  await Promise.all(loads.map((load) => load.answered(100)));
  const results = await Promise.all(loads.map((load) => load.stop()));
  for (const socket of held) socket.destroy();
  for (const [i, { requests, failures }] of results.entries()) {
    const sent = failures.map((failure) => Date.parse(failure.sent));
    const seconds = (Math.max(...sent) - Math.min(...sent)) / 1_000;
    const counts = Object.entries(Object.groupBy(failures, ({ result }) => result));
    const kind = i === 0 ? 'kept-alive' : 'new';
    console.log(
      `${kind} connections: ${requests} requests, failures for ${seconds.toFixed(1)} s:`,
      counts.map(([result, some]) => `${some?.length} × ${result}`).join(', '),
    );
    expect(seconds).toBeLessThan(6);
  }
});
