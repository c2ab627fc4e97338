import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { startLoad } from '@longhand/loadtest/load-generator.ts';
import { docker, hasEngine } from '@longhand/shared/testing/engine.ts';
import { send } from '@longhand/shared/testing/send.ts';
import { testFolder } from '@longhand/shared/testing/text-file.ts';
import { describeUnless } from '@longhand/shared/testing/unless.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { acceptanceRules } from './suite/acceptance.ts';
import { browserWalk } from './suite/browser.ts';
import { containerRules } from './suite/containers.ts';
import { type ComposedStack, startComposed } from './testing/composed.ts';
import { openSession } from './testing/session.ts';
import { addTasks, replicasThatServe, requestPause } from './testing/under-load.ts';

describeUnless(!(await hasEngine()) && 'needs a Docker engine')(
  'The stack in containers',
  { timeout: 180_000 },
  () => {
    let stack: ComposedStack;
    beforeAll(async () => {
      // With monitoring, which shares networks with the services.
      stack = await startComposed({ before: ['prometheus', 'exporters'] });
    }, 300_000);
    afterAll(() => stack?.stop());

    acceptanceRules(() => stack);
    browserWalk(() => stack);
    // Not before the tests above: they restart containers, which then may have other addresses.
    describe('Its containers', () => containerRules(() => stack));

    test('`make restore` restores tasks from a backup', async () => {
      const { tasksPort, script } = stack;
      const file = join(testFolder(), 'saved.rdb');
      const session = openSession(tasksPort);
      const [kept, later] = [`kept ${randomUUID()}`, `later ${randomUUID()}`];
      await session.add(kept);
      expect(await script('redis/backup.sh', ['containers', file])).toMatch(/saved\.rdb: \d+ bytes\n$/);
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      await session.add(later);

      const restored = await script('redis/restore.sh', ['containers', file], 'yes\n');
      expect(restored).toMatch(/^Replace all tasks with those from \S+\? Type yes: /);
      await expect.poll(async () => (await send(tasksPort, '/')).status, { timeout: 30_000 }).toBe(200);
      const titles = (await session.tasks()).map(({ title }) => title);
      expect(titles).toContain(kept);
      expect(titles).not.toContain(later);
    });

    const scale = (expander: number, tasks: number) => {
      const replicas = ['--scale', `expander=${expander}`, '--scale', `tasks=${tasks}`];
      return stack.compose('up', '--no-recreate', '--wait', ...replicas, 'proxy');
    };

    test('no request fails while replicas are added and killed', async () => {
      const { expanderPort, tasksPort, shortener } = stack;
      const api = `http://127.0.0.1:${expanderPort}/api?u=`;
      const coldLink = () => ({
        url: api + encodeURIComponent(`${shortener}/chain/0?delay=50&id=${randomUUID()}`),
      });
      const load = startLoad(coldLink, { connections: 3, pause: requestPause });
      await scale(2, 2);
      for (const port of [expanderPort, tasksPort])
        await expect.poll(() => replicasThatServe(stack, port), { timeout: 60_000 }).toBe(2);
      const [replica = ''] = await stack.containers('expander');
      await docker('kill', replica);
      await load.completed(50);
      expect((await load.stop()).filter(({ right }) => !right)).toEqual([]);
    });

    test('no request fails while the only replica is replaced', async () => {
      await scale(1, 1);
      const before = await stack.containers('tasks');
      const load = await addTasks(stack.tasksPort, 2);
      await load.completed(50);
      await stack.script('compose/replace.sh', ['tasks']);
      await load.completed(50);
      const requests = await load.stop();
      expect(requests.filter(({ right }) => !right)).toEqual([]);
      expect(requests.length).toBeGreaterThan(100);
      const after = await stack.containers('tasks');
      expect(after).toHaveLength(before.length);
      expect(after.filter((id) => before.includes(id))).toEqual([]);
    });
  },
);
