import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { testApp } from '../../testing/app.ts';
import type { Changes, TaskStore } from '../task/task.ts';
import type { TasksEnv } from '../web/context.ts';
import { eventsHandlers } from './events.ts';

/** Subscribers, to be told of a change by a test. */
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

/** The events ask nothing of the store. */
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

test('a page that does not read has at most 17 events waiting for it', async () => {
  const { told, changes } = subscribers();
  const { reader } = await watch(testApp(store, { changes }));
  for (let version = 1; version <= 1_000; version++) for (const tell of told) tell(`${version}`);
  let waiting = 0;
  // What is told now comes right after what has waited.
  for (let text = ''; !text.includes('data: now'); waiting++) {
    text = new TextDecoder().decode((await reader.read()).value);
    for (const tell of told) tell('now');
  }
  expect(waiting - 1).toBeLessThanOrEqual(17 + 1);
  await reader.cancel();
});

test('a comment comes again and again, so that the proxy does not take the connection for a dead one', async () => {
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

test('HEAD says what the events are, and watches nothing', async () => {
  const { told, changes } = subscribers();
  const response = await testApp(store, { changes }).request('/tasks/events', { method: 'HEAD' });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  expect(told.size).toBe(0);
});
