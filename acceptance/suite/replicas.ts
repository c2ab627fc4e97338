import { randomUUID } from 'node:crypto';
import { startLoad } from '@longhand/loadtest/load-generator.ts';
import { docker } from '@longhand/shared/testing/engine.ts';
import { describe, expect, test } from 'vitest';
import type { ComposedStack } from '../testing/composed.ts';
import { addTasks, considerate, replicasThatServe } from '../testing/under-load.ts';

/** The rules of scaling and replacing replicas. */
export function replicaRules(stack: () => ComposedStack): void {
  const scale = (expander: number, tasks: number) => {
    const replicas = ['--scale', `expander=${expander}`, '--scale', `tasks=${tasks}`];
    return stack().compose('up', '--no-recreate', '--wait', ...replicas, 'proxy');
  };

  describe('Replicas', { timeout: 180_000 }, () => {
    test('all replicas of a scaled service get requests; adding and killing one fails no request', async () => {
      const { expanderPort, tasksPort, shortener } = stack();
      const api = `http://127.0.0.1:${expanderPort}/api?u=`;
      const coldLink = () => ({
        url: api + encodeURIComponent(`${shortener}/chain/0?delay=50&id=${randomUUID()}`),
      });
      const load = startLoad(coldLink, { connections: 3, pause: considerate });
      await scale(2, 2);
      await expect.poll(() => replicasThatServe(stack(), expanderPort), { timeout: 60_000 }).toBe(2);
      await expect.poll(() => replicasThatServe(stack(), tasksPort), { timeout: 60_000 }).toBe(2);
      const [replica = ''] = await stack().containers('expander');
      await docker('kill', replica);
      await load.completed(50);
      expect((await load.stop()).filter(({ right }) => !right)).toEqual([]);
    });

    test('replacing the only replica under load fails no request', async () => {
      await scale(1, 1);
      const before = await stack().containers('tasks');
      const load = await addTasks(stack().tasksPort, 2);
      await load.completed(50);
      await stack().script('compose/replace.sh', ['tasks']);
      await load.completed(50);
      const requests = await load.stop();
      expect(requests.filter(({ right }) => !right)).toEqual([]);
      expect(requests.length).toBeGreaterThan(100);
      const after = await stack().containers('tasks');
      expect(after).toHaveLength(before.length);
      expect(after.filter((id) => before.includes(id))).toEqual([]);
    });
  });
}
