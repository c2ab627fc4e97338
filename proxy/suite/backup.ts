import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
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
      const { tasksPort, script, compose, containers } = stack();
      const file = join(folder, 'saved.rdb');
      const session = openSession(tasksPort);
      const kept = `kept ${randomUUID()}`;
      const later = `later ${randomUUID()}`;
      expect((await session.add(kept)).status).toBe(302);
      expect(await script('backup.sh', ['containers', file])).toMatch(/saved\.rdb: \d+ tasks, \d+ bytes\n$/);
      // What is cut off of a copy must not be part of it: a store that copies over its disk sends no end mark.
      const diskless = (yes: string) =>
        compose(
          ...['exec', '-T', 'tasks-store', 'redis.sh', 'cli', 'CONFIG', 'SET', 'repl-diskless-sync', yes],
        );
      await diskless('no');
      const cut = await script('backup.sh', ['containers', join(folder, 'cut.rdb')]).catch((error) => error);
      await diskless('yes');
      expect([cut.code, cut.stderr]).toEqual([1, expect.stringContaining('The backup failed')]);
      expect(await readdir(folder)).toEqual(['saved.rdb', 'saved.rdb.sha256']);
      expect((await session.add(later)).status).toBe(302);

      // A file that cannot be read changes nothing, and the store runs again.
      const bad = join(folder, 'bad.rdb');
      await writeFile(bad, 'no backup');
      await writeFile(
        `${bad}.sha256`,
        `${createHash('sha256').update('no backup').digest('hex')}  bad.rdb\n`,
      );
      const refused = await script('restore.sh', ['containers', bad], 'yes\n').catch((error) => error);
      expect([refused.code, refused.stderr]).toEqual([
        1,
        expect.stringContaining('The backup was not restored.'),
      ]);
      expect(await containers('tasks-store')).toHaveLength(1);
      await expect.poll(async () => (await send(tasksPort, '/')).status, { timeout: 30_000 }).toBe(200);

      const restored = await script('restore.sh', ['containers', file], 'yes\n');
      expect(restored).toMatch(/^The store has \d+ tasks\. Replace everything with \S+\? Type yes: /);
      await expect.poll(async () => (await send(tasksPort, '/')).status, { timeout: 30_000 }).toBe(200);
      const titles = (await session.tasks()).map(({ title }) => title);
      expect(titles).toContain(kept);
      expect(titles).not.toContain(later);
      const [, repair = ''] = /^ {2}docker compose (exec tasks .*)$/m.exec(restored) ?? [];
      expect(await compose(...repair.replace('exec', 'exec -T').split(' '))).toMatch(
        /^\d+ tasks; no faults$/m,
      );
    });
  });
}
