import { expect, test } from 'vitest';
import { startReplica } from '../../testing/replica.ts';
import { addByForm } from '../../testing/service.ts';
import { noTrace, startTracedRedis } from '../../testing/traced-redis.ts';

/** Milliseconds per fsync. A response that does not wait for the disk is much faster. */
const syncTime = 300;

test('a task is on disk before Redis replies, and before the client receives the 302', async (context) => {
  const reason = noTrace();
  context.skip(reason !== undefined, reason);
  const redis = await startTracedRedis(syncTime);
  const service = await startReplica(redis.url);
  const title = 'a durable task';
  const { status } = await addByForm(service, title);
  const respondedAt = Date.now();
  service.stop();
  const calls = await redis.stop();

  const received = calls.findIndex(({ name, text }) => name === 'read' && text.includes(title));
  const client = calls[received]?.file;
  const after = calls.slice(received + 1);
  const written = after.findIndex(({ file, text }) => file.includes('appendonly') && text.includes(title));
  const synced = after.findIndex(
    ({ name, file }, i) => /^f(data)?sync$/.test(name) && file === after[written]?.file && i > written,
  );
  const replied = after.findIndex(({ name, file }) => name !== 'read' && file === client);
  expect(written).toBeGreaterThanOrEqual(0);
  expect(synced).toBeGreaterThan(written);
  expect(replied).toBeGreaterThan(synced);
  expect(status).toBe(302);
  expect(respondedAt - (after[synced]?.at ?? 0)).toBeGreaterThanOrEqual(syncTime);
});
