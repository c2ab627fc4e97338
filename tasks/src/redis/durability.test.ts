import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { addByForm } from '../../testing/form.ts';
import { startService } from '../../testing/service.ts';
import { noTrace, type SystemCall, startTracedRedis } from '../../testing/traced-redis.ts';

/** Milliseconds that the disk takes for a sync here: a response that does not wait for it is much faster. */
const syncTime = 300;

/** Adds a task with Redis being traced: what Redis did with it, step by step, and how the response was timed. */
async function addTask(...options: string[]) {
  const redis = await startTracedRedis(syncTime, ...options);
  const service = await startService({ REDIS_URL: redis.url });
  const title = `durable ${randomUUID()}`;
  const { status } = await addByForm(service, title);
  const respondedAt = Date.now();
  await service.end('SIGTERM');
  const calls = await redis.stop();

  const received = calls.findIndex(({ name, text }) => name === 'read' && text.includes(title));
  const after = calls.slice(received + 1);
  const client = calls[received]?.file;
  const written = after.find(({ file, text }) => file.includes('appendonly') && text.includes(title));
  const synced = after.find(
    ({ name, file, at }) => /^f(data)?sync$/.test(name) && file === written?.file && at >= written.at,
  );
  const replied = after.find(({ name, file }) => name !== 'read' && file === client);
  const steps = [
    ['written to the file', written],
    ['file synced', synced],
    ['reply sent', replied],
  ] as [string, SystemCall | undefined][];
  const place = (call: SystemCall | undefined) => (call ? after.indexOf(call) : Number.POSITIVE_INFINITY);
  return {
    status,
    /** In the order in which they were complete. */
    steps: steps.toSorted(([, a], [, b]) => place(a) - place(b)).map(([step]) => step),
    /** Milliseconds from the begin of the sync to the response. */
    waited: respondedAt - (synced?.at ?? 0),
  };
}

const reason = noTrace();
describe.skipIf(reason)(`Durability${reason ? ` (skipped: ${reason})` : ''}`, () => {
  test('a task is on disk before Redis replies, and before the browser gets the 302', async () => {
    const { status, steps, waited } = await addTask();
    expect(steps).toEqual(['written to the file', 'file synced', 'reply sent']);
    expect(status).toBe(302);
    expect(waited).toBeGreaterThanOrEqual(syncTime);
  });

  test('a Redis that syncs once a second is caught replying before the task is on disk', async () => {
    const { status, steps } = await addTask('--appendfsync', 'everysec');
    expect(steps.indexOf('reply sent')).toBeLessThan(steps.indexOf('file synced'));
    expect(status).toBe(302);
  });
});
