import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { testApp } from '../../testing/app.ts';
import type { Changes, TaskStore } from '../task/task.ts';
import type { TasksEnv } from '../web/context.ts';
import { eventsHandlers } from './events.ts';

/** Subscribers that a test can notify. */
function subscribers() {
  const told = new Set<(version: string) => void>();
  const changes: Changes = {
    subscribe(tell) {
      told.add(tell);
      return () => told.delete(tell);
    },
  };
  return { told, changes };
}

/** Events do not use the store. */
const store = { insert: async () => {} } as unknown as TaskStore;

const watch = async (app: ReturnType<typeof testApp>) => {
  const response = await app.fetch(new Request('http://localhost/tasks/events'));
  return { response, reader: (response.body as ReadableStream<Uint8Array>).getReader() };
};

test('2 000 pages watch at once; one more is 503 with Retry-After, until another one leaves', async () => {
  const { told, changes } = subscribers();
  const app = testApp(store, { changes });
  const watching = await Promise.all(Array.from({ length: 2_000 }, () => watch(app)));
  expect(watching.every(({ response }) => response.status === 200)).toBe(true);
  const refused = await app.request('/tasks/events');
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(await refused.text()).toContain('Too many pages are watching the list just now.');
  await watching.pop()?.reader.cancel();
  const next = await watch(app);
  expect(next.response.status).toBe(200);
  await Promise.all([next, ...watching].map(({ reader }) => reader.cancel()));
  expect(told.size).toBe(0);
});

test('a client that does not read has at most 17 pending events', async () => {
  const { told, changes } = subscribers();
  const { reader } = await watch(testApp(store, { changes }));
  for (let version = 1; version <= 1_000; version++) for (const tell of told) tell(`${version}`);
  let waiting = 0;
  // This event follows the pending ones.
  for (let text = ''; !text.includes('data: now'); waiting++) {
    text = new TextDecoder().decode((await reader.read()).value);
    for (const tell of told) tell('now');
  }
  expect(waiting - 1).toBeLessThanOrEqual(17 + 1);
  await reader.cancel();
});

test('sends comments regularly, so that the proxy keeps the connection', async () => {
  const { changes } = subscribers();
  const events = eventsHandlers({ changes, signal: new AbortController().signal }, 1);
  const response = await new Hono<TasksEnv>().get('/', events.stream).request('/');
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const comments = [];
  while (comments.length < 3) {
    const text = new TextDecoder().decode((await reader.read()).value);
    if (text === ':\n\n') comments.push(text);
  }
  await reader.cancel();
});

test('HEAD does not subscribe', async () => {
  const { told, changes } = subscribers();
  const response = await testApp(store, { changes }).request('/tasks/events', { method: 'HEAD' });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  expect(told.size).toBe(0);
});
