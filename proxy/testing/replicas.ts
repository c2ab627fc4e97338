import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFolders } from '@longhand/deploy/native/folders.ts';
import { redis, service, upstreamServers } from '@longhand/deploy/native/processes.ts';
import { type ProcessSpec, supervise } from '@longhand/deploy/native/supervisor.ts';
import { childEnvironment } from '@longhand/shared/testing/child-environment.ts';

/**
 * Starts two replicas of one service: tasks with a store, the expander without a cache.
 *
 * @returns `server`, the value of `LONGHAND_…_SERVER` for them.
 */
export async function startReplicas(name: 'expander' | 'tasks', env: NodeJS.ProcessEnv) {
  const folder = await mkdtemp(join(tmpdir(), 'longhand-replicas-'));
  createFolders(folder);
  const context = { folder, env: { ...childEnvironment, ...env }, onLine() {} };
  const start = (spec: ProcessSpec) => supervise(spec, context);
  const store = name === 'tasks' ? [await start(redis('tasks-store', name, folder))] : [];
  const names = [name, `${name}-2`];
  const replicas = await Promise.all(
    names.map((replica) => start(service(name, replica, 'tasks-store', folder))),
  );
  return {
    server: upstreamServers(names, folder),
    async stop() {
      for (const group of [replicas, store]) await Promise.all(group.map(({ stop }) => stop()));
      await rm(folder, { recursive: true });
    },
  };
}
