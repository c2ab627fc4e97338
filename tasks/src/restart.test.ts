import { once } from 'node:events';
import http from 'node:http';
import { json } from 'node:stream/consumers';
import { Redis } from 'ioredis';
import { beforeEach, expect, test } from 'vitest';
import { type Replica, startReplica } from '../testing/replica.ts';
import { allTasks, useStore } from '../testing/store.ts';
import { keys } from './redis/keys.ts';

const headers = { Accept: 'application/json', 'Content-Type': 'application/json' };

const kept = useStore();
let service: Replica;
beforeEach(async () => {
  service = await startReplica(kept.url);
});

const titlesLeft = async () => (await allTasks(kept.store)).map(({ title }) => title);

test('A stopping service finishes an import and responds', async () => {
  const lines = Array.from({ length: 1_000 }, (_, i) => `line ${i}`);
  const sending = http.request(`${service.url}tasks/import`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/x-ndjson', Expect: '100-continue' },
  });
  sending.flushHeaders();
  await once(sending, 'continue');
  const responded = once(sending, 'response') as Promise<[http.IncomingMessage]>;
  const stopped = service.stop();
  sending.end(lines.map((title) => JSON.stringify({ title })).join('\n'));
  expect(await json((await responded)[0])).toMatchObject({ imported: lines.length, refused: 0 });
  await stopped;
  expect(await titlesLeft()).toEqual(lines);
});

test('A stopping service finishes clearing tasks and responds', async () => {
  const task = { title: 'open', finished: 0, created_at: new Date().toISOString() } as const;
  await kept.store.insert([task]);
  // One step clears 4,000 tasks.
  for (const count of [2_000, 2_001])
    await kept.store.insert(Array(count).fill({ ...task, title: 'done', finished: 1 }));
  const watcher = new Redis(kept.url);
  await watcher.subscribe(keys.changes);
  const stepped = once(watcher, 'message');
  const response = fetch(`${service.url}tasks/finished`, { method: 'DELETE', headers, body: '{}' });
  await stepped;
  watcher.disconnect();
  const stopped = service.stop();
  expect(await (await response).json()).toMatchObject({ count: 4_001 });
  await stopped;
  expect(await titlesLeft()).toEqual(['open']);
});
