import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { composeProject } from '@longhand/deploy/testing/compose-project.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasPrevious, newProject, previousRelease } from '../testing/release.ts';
import { send } from '../testing/send.ts';
import { openSession } from '../testing/session.ts';

/** The fields that every release has. */
const fields = ({ _id, title, finished, created_at }: Record<string, unknown>) => ({
  _id: `${_id}`,
  title: `${title}`,
  finished,
  created_at,
});
type Task = ReturnType<typeof fields>;

/**
 * The rules for the way from the last release to this one, and back.
 *
 * @param folder of this one's compose.yaml.
 */
export function upgradeRules(folder: () => string): void {
  const without = hasPrevious ? '' : ' (skipped: this clone has no commit of the last release)';

  describe.skipIf(!hasPrevious)(`Every task is kept${without}`, { timeout: 300_000 }, () => {
    let port: number;
    let previous: string;
    let lastRelease: ReturnType<typeof composeProject>;
    let thisRelease: ReturnType<typeof composeProject>;
    /** What must be there, by id. */
    const kept = new Map<string, Task>();
    /** Titles of writes, which may be there even without an acknowledgement. */
    const unknown = new Set<string>();

    const call = async (method: string, path: string, body?: object) => {
      const headers = { Accept: 'application/json', 'Content-Type': 'application/json' };
      const response = await send(port, path, { method, headers, body: body && JSON.stringify(body) });
      if (response.status >= 400) throw new Error(`${method} ${path}: ${response.status} ${response.body}`);
      return JSON.parse(response.body);
    };
    const list = async () => {
      const found: Task[] = [];
      for (let path: string | undefined = '/tasks'; path; ) {
        const page = await call('GET', path);
        found.push(...page.tasks.map(fields));
        path = page.next;
      }
      return found;
    };
    const keep = (task: Task) => kept.set(task._id, task);

    beforeAll(async () => {
      const { env, ports } = await newProject();
      port = ports.LONGHAND_TASKS_PORT;
      previous = await previousRelease();
      lastRelease = composeProject(env, previous);
      thisRelease = composeProject(env, folder());
      await lastRelease.compose('up', '--build', '--detach', '--wait');
      const lines = Array.from({ length: 10_000 }, (_, i) => `- [${i % 4 === 0 ? 'x' : ' '}] before ${i}`);
      const headers = { 'Content-Type': 'text/plain', 'Sec-Fetch-Site': 'same-origin' };
      await send(port, '/tasks/import', { method: 'POST', headers, body: lines.join('\n') });
      for (const task of await list()) keep(task);
      expect(kept.size).toBe(10_000);
    }, 600_000);
    afterAll(async () => {
      // Each knows its own networks and volumes.
      await thisRelease?.compose('down', '--volumes');
      await lastRelease?.compose('down', '--volumes', '--rmi', 'local');
      await rm(previous, { recursive: true, force: true });
    });

    test.each([
      ['An upgrade', () => thisRelease],
      ['A rollback', () => lastRelease],
    ])('%s under 50 writes a second: forms and removals from before still work', async (name, next) => {
      const session = openSession(port);
      const _csrf = await session.token();
      const removals = [await call('DELETE', '/tasks/finished')];
      for (const { _id } of (await list()).slice(0, 20)) removals.push(await call('DELETE', `/tasks/${_id}`));

      const writes = startWrites(async (title) => {
        unknown.add(title);
        keep(fields(await call('POST', '/tasks', { title })));
      });
      await writes.acknowledged(100);
      await next().compose('up', '--detach', '--wait');
      await writes.acknowledged(100);
      const counts = await writes.stop();

      const title = `${name}: a form from before`;
      expect((await session.post({ title, _csrf })).status).toBe(302);
      for (const { removal, count = 1 } of removals)
        expect(await call('POST', '/tasks/restore', { removal })).toEqual({ count });
      const found = await list();
      const there = new Map(found.map((task) => [task._id, task]));
      expect(
        [...kept.values()].filter((task) => JSON.stringify(task) !== JSON.stringify(there.get(task._id))),
      ).toEqual([]);
      const more = found.filter(({ _id }) => !kept.has(_id)).map((task) => task.title);
      expect(more.filter((one) => !unknown.has(one))).toEqual([title]);
      for (const task of found) keep(task);
      console.log(`${name}: ${found.length} tasks are there, ${JSON.stringify(counts)}`);
    });
  });
}

/** Writes 50 times a second, whatever becomes of it. */
function startWrites(write: (title: string) => Promise<void>) {
  const writes: Promise<void>[] = [];
  const failures: number[] = [];
  let done = 0;
  const one = async () => {
    await write(`written ${randomUUID()}`);
    done += 1;
  };
  const timer = setInterval(() => {
    writes.push(one().catch(() => void failures.push(performance.now())));
  }, 20);
  return {
    /** Resolves once `count` more writes are acknowledged. */
    async acknowledged(count: number) {
      const goal = done + count;
      await expect.poll(() => done, { timeout: 30_000 }).toBeGreaterThan(goal);
    },
    /** Resolves to the counts, and the seconds from the first failure to the last. */
    async stop() {
      clearInterval(timer);
      await Promise.all(writes);
      const outage = failures.length && (Math.max(...failures) - Math.min(...failures)) / 1_000;
      return { acknowledged: done, failed: failures.length, outage };
    },
  };
}
