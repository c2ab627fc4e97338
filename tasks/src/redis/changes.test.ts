import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Replica, startReplica } from '../../testing/replica.ts';
import { useStore } from '../../testing/store.ts';
import { redisChanges } from './changes.ts';
import { keys } from './keys.ts';

const kept = useStore();
let replicas: [Replica, Replica];
beforeAll(async () => {
  replicas = [await startReplica(kept.url), await startReplica(kept.url)];
});
afterAll(() => void replicas[0].stop());

/** Connects to the store's changes until the test ends. */
function openChanges(interval?: number) {
  const end = new AbortController();
  onTestFinished(() => end.abort());
  return redisChanges(kept.redis, end.signal, interval);
}

/** Watches a replica's event stream. */
async function watch(service: Replica) {
  const response = await fetch(`${service.url}tasks/events`);
  const seen = { response, text: '', end: '', versions: () => seen.text.match(/(?<=^data: )\d+$/gm) ?? [] };
  const read = async () => {
    for await (const chunk of response.body ?? []) seen.text += Buffer.from(chunk);
  };
  read().then(
    () => Object.assign(seen, { end: 'closed' }),
    () => Object.assign(seen, { end: 'cut' }),
  );
  return seen;
}

const add = (service: Replica, title: string) =>
  fetch(`${service.url}tasks`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ title }),
  });

test('a subscriber receives the version immediately, unless it unsubscribes first', async () => {
  const changes = openChanges(3_600_000);
  const received: string[] = [];
  // The check after connecting also notifies this subscriber.
  changes.subscribe((version) => received.push(version));
  await expect.poll(() => received.length).toBeGreaterThan(1);
  const left: string[] = [];
  changes.subscribe((version) => left.push(version))();
  const later: string[] = [];
  changes.subscribe((version) => later.push(version));
  await expect.poll(() => later).toEqual([(await kept.redis.get(keys.version)) ?? '0']);
  expect(left).toEqual([]);
});

test('polling finds a change after a lost message', async () => {
  const received: string[] = [];
  openChanges(20).subscribe((version) => received.push(version));
  // The check after connecting may announce the first version.
  for (const version of ['1001', '1002', '1003']) {
    await kept.redis.set(keys.version, version);
    await expect.poll(() => received.at(-1)).toBe(version);
  }
});

test('announcements to 1,000 subscribers are spread over half a second', async () => {
  const changes = openChanges(60_000);
  const arrivals = Array.from({ length: 1_000 }, () => [] as number[]);
  let announced = '';
  for (const times of arrivals)
    changes.subscribe((version) => version === announced && times.push(performance.now()));
  const listening = async () => (await kept.redis.pubsub('NUMSUB', keys.changes))[1];
  await expect.poll(listening).toBe(replicas.length + 1);
  announced = '2001';
  await kept.redis.publish(keys.changes, announced);
  await expect.poll(() => arrivals.every((times) => times.length === 1)).toBe(true);
  const sorted = arrivals.flat().toSorted((a, b) => a - b) as [number, ...number[]];
  expect((sorted.at(-1) as number) - sorted[0]).toBeGreaterThan(300);
});

describe('GET /tasks/events', () => {
  test('sends the version immediately, and again after a change by another replica', async () => {
    const seen = await watch(replicas[0]);
    expect(seen.response.headers.get('content-type')).toBe('text/event-stream');
    expect(seen.response.headers.get('x-accel-buffering')).toBe('no');
    await expect.poll(() => seen.versions()).toHaveLength(1);
    await add(replicas[1], 'milk');
    await expect.poll(() => new Set(seen.versions()).size).toBe(2);
    expect(await (await fetch(`${replicas[0].url}`)).text()).toContain(seen.versions().at(-1));
  });

  test('sends a missed version once Redis is back', async () => {
    const seen = await watch(replicas[0]);
    await expect.poll(() => seen.versions().length).toBeGreaterThan(0);
    const before = seen.versions().at(-1);
    await kept.server.kill();
    await kept.server.start();
    await expect.poll(async () => (await add(replicas[1], 'bread')).status).toBe(201);
    await expect.poll(() => seen.versions().at(-1) !== before).toBe(true);
    expect(seen.end).toBe('');
  });

  test('ends when the replica stops', async () => {
    const seen = await watch(replicas[1]);
    await expect.poll(() => seen.versions().length).toBeGreaterThan(0);
    await replicas[1].stop();
    await expect.poll(() => seen.end).toBe('closed');
  });
});
