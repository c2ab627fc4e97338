import { randomUUID } from 'node:crypto';
import { mkdtempDisposable, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { send } from '@longhand/shared/testing/send.ts';
import { expect, test } from 'vitest';
import type { ComposedStack } from '../testing/composed.ts';
import { openSession } from '../testing/session.ts';

/** `make backup` and `make restore` in containers; deploy/redis/backup.test.ts has the rules of a backup. */
export function backupRules(stack: () => ComposedStack): void {
  test('a backup is made while the store works, and brings its tasks back', {
    timeout: 120_000,
  }, async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'longhand-backup-'));
    const { tasksPort, script } = stack();
    const file = join(folder.path, 'saved.rdb');
    const session = openSession(tasksPort);
    const [kept, later] = [`kept ${randomUUID()}`, `later ${randomUUID()}`];
    await session.add(kept);
    expect(await script('redis/backup.sh', ['containers', file])).toMatch(/saved\.rdb: \d+ bytes\n$/);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await session.add(later);

    const restored = await script('redis/restore.sh', ['containers', file], 'yes\n');
    expect(restored).toMatch(/^Replace all tasks with those of \S+\? Type yes: /);
    await expect.poll(async () => (await send(tasksPort, '/')).status, { timeout: 30_000 }).toBe(200);
    const titles = (await session.tasks()).map(({ title }) => title);
    expect(titles).toContain(kept);
    expect(titles).not.toContain(later);
  });
}
