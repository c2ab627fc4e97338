import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { send } from '@longhand/shared/testing/send.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ComposedStack } from '../testing/composed.ts';
import { openSession } from '../testing/session.ts';

/** The rules for backups of containers; deploy/backup/backup.test.ts has those of the native stack. */
export function backupRules(stack: () => ComposedStack): void {
  describe('A backup', { timeout: 120_000 }, () => {
    test('is made while the store works, and brings its tasks back', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'longhand-backup-'));
      onTestFinished(() => rm(folder, { recursive: true }));
      const { tasksPort, script, compose, containers } = stack();
      const file = join(folder, 'saved.rdb');
      const session = openSession(tasksPort);
      const kept = `kept ${randomUUID()}`;
      const later = `later ${randomUUID()}`;
      expect((await session.add(kept)).status).toBe(302);
      expect(await script('backup/backup.sh', ['containers', file])).toMatch(/saved\.rdb: \d+ bytes\n$/);
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect((await session.add(later)).status).toBe(302);

      const restore = ['run', '--rm', '--no-deps', '-T', 'tasks-store', 'redis.sh', 'restore'];
      await expect(compose(...restore)).rejects.toThrow('The stack is running: stop its store first');

      // A file that cannot be read changes nothing, and the store runs again.
      const bad = join(folder, 'bad.rdb');
      await writeFile(bad, 'no backup');
      const refused = await script('backup/restore.sh', ['containers', bad], 'yes\n').catch((error) => error);
      expect([refused.code, refused.stderr]).toEqual([
        1,
        expect.stringContaining('This is not a whole backup: '),
      ]);
      expect(await containers('tasks-store')).toHaveLength(1);
      await expect.poll(async () => (await send(tasksPort, '/')).status, { timeout: 30_000 }).toBe(200);

      const restored = await script('backup/restore.sh', ['containers', file], 'yes\n');
      expect(restored).toMatch(/^Replace all tasks by those of \S+\? Type yes: /);
      await expect.poll(async () => (await send(tasksPort, '/')).status, { timeout: 30_000 }).toBe(200);
      const titles = (await session.tasks()).map(({ title }) => title);
      expect(titles).toContain(kept);
      expect(titles).not.toContain(later);
    });
  });
}
