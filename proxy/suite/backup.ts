import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ComposedStack } from '../testing/composed.ts';
import { send } from '../testing/send.ts';
import { openSession } from '../testing/session.ts';

/** The rules for backups of containers; deploy/backup.test.ts has those of the native stack. */
export function backupRules(stack: () => ComposedStack): void {
  describe('A backup', { timeout: 120_000 }, () => {
    test('is made while the store works, and brings its tasks back', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'longhand-backup-'));
      onTestFinished(() => rm(folder, { recursive: true }));
      const { tasksPort, script, compose } = stack();
      const file = join(folder, 'saved.rdb');
      const session = openSession(tasksPort);
      const kept = `kept ${randomUUID()}`;
      const later = `later ${randomUUID()}`;
      expect((await session.add(kept)).status).toBe(302);
      expect(await script('backup.sh', ['containers', file])).toMatch(/saved\.rdb: \d+ tasks, \d+ bytes\n$/);
      expect((await session.add(later)).status).toBe(302);

      const restored = await script('restore.sh', ['containers', file], 'yes\n');
      expect(restored).toMatch(/^The store has \d+ tasks\. Replace everything with \S+\? Type yes: /);
      await expect.poll(async () => (await send(tasksPort, '/')).status, { timeout: 30_000 }).toBe(200);
      const titles = (await session.tasks()).map(({ title }) => title);
      expect(titles).toContain(kept);
      expect(titles).not.toContain(later);
      const repair = ['exec', '-T', 'tasks', 'node', 'tasks/src/repair-main.ts'];
      expect(await compose(...repair)).toMatch(/^\d+ tasks; no faults$/m);
    });
  });
}
