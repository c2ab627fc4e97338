import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Replica, startReplica } from '../testing/replica.ts';
import { addByForm } from '../testing/service.ts';
import { useStore } from '../testing/store.ts';

const kept = useStore();
let replicas: [Replica, Replica];
beforeAll(async () => {
  replicas = [await startReplica(kept.url), await startReplica(kept.url)];
});
afterAll(() => {
  vi.useRealTimers();
  for (const replica of replicas) replica.stop();
});

test('With clocks that jump and two replicas on one store, ids are unique and ordered, and nothing is lost', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const now = Date.now();
  const [one, two] = replicas;
  const json = { Accept: 'application/json', 'Content-Type': 'application/json' };
  const made: { _id: string; created_at: string }[] = [];
  for (let i = 0; i < 10; i++) {
    // Each replica is an hour ahead and an hour behind in turn.
    const jump = Math.ceil(i / 2) % 2 ? -1 : 1;
    vi.setSystemTime(now + jump * 3_600_000);
    const { url } = i % 2 ? one : two;
    const body = JSON.stringify({ title: `task ${i}` });
    const response = await fetch(`${url}tasks`, { method: 'POST', headers: json, body });
    made.push((await response.json()) as { _id: string; created_at: string });
  }
  const ids = made.map(({ _id }) => Number(_id));
  expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b));
  const times = made.map(({ created_at }) => Date.parse(created_at));
  expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(3_600_000);

  // A form of one is good on the other, and a change is seen by both.
  expect((await addByForm(two, 'by form', await fetch(one.url))).status).toBe(302);
  expect((await fetch(`${one.url}task/${ids[3]}/finish`, { redirect: 'manual' })).status).toBe(302);
  for (const { url } of [one, two]) {
    const { tasks } = (await (await fetch(`${url}tasks`, { headers: json })).json()) as {
      tasks: { _id: string; title: string }[];
    };
    const open = ids.filter((_, i) => i !== 3).toReversed();
    expect(tasks.map(({ _id }) => Number(_id))).toEqual([Number(tasks[0]?._id), ...open, ids[3]]);
    expect(tasks[0]?.title).toBe('by form');
  }
});
