import { createRoutes } from '@longhand/shared/routes.ts';
import { noTurns } from '@longhand/shared/turns.ts';
import { expect, test } from 'vitest';
import { testApp } from '../../testing/app.ts';
import type { Changes, TaskStore } from '../task/task.ts';
import type { TasksEnv } from '../web/context.ts';
import { eventsHandlers } from './events.ts';

/** Creates an application without a store, and returns its subscribers. */
function watchedApp() {
  const subscribers = new Set<(version: string) => void>();
  const changes: Changes = {
    subscribe(subscriber) {
      subscribers.add(subscriber);
      return () => subscribers.delete(subscriber);
    },
  };
  return { subscribers, changes, app: testApp({} as TaskStore, { changes }) };
}

const watch = async (app: ReturnType<typeof testApp>) => {
  const response = await app.fetch(new Request('http://localhost/tasks/events'));
  return { response, reader: (response.body as ReadableStream<Uint8Array>).getReader() };
};

test('the event stream returns 503 with Retry-After if 2,000 pages are watching the list', async () => {
  const { subscribers, app } = watchedApp();
  const watching = await Promise.all(Array.from({ length: 2_000 }, () => watch(app)));
  expect(watching.every(({ response }) => response.status === 200)).toBe(true);
  const refused = await app.request('/tasks/events');
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(await refused.text()).toContain('Too many pages are watching the list.');
  await watching.pop()?.reader.cancel();
  const next = await watch(app);
  expect(next.response.status).toBe(200);
  await Promise.all([next, ...watching].map(({ reader }) => reader.cancel()));
  expect(subscribers.size).toBe(0);
});

test('the event stream queues at most 17 events for a client that does not read', async () => {
  const { subscribers, app } = watchedApp();
  const { reader } = await watch(app);
  const announce = (version: string) => {
    for (const subscriber of subscribers) subscriber(version);
  };
  for (let version = 1; version <= 1_000; version++) announce(`${version}`);
  let pending = 0;
  // The event `now` follows the queued events.
  for (let text = ''; !text.includes('data: now'); pending++) {
    text = new TextDecoder().decode((await reader.read()).value);
    announce('now');
  }
  expect(pending - 1).toBeLessThanOrEqual(17 + 1);
  await reader.cancel();
});

test('the event stream sends comments, so that the proxy keeps the connection open', async () => {
  const { changes } = watchedApp();
  const events = eventsHandlers({ changes, signal: new AbortController().signal }, 1);
  const { app, get } = createRoutes<TasksEnv>(noTurns);
  get('/', events.stream);
  const response = await app.request('/');
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  for (let comments = 0; comments < 3; )
    if (new TextDecoder().decode((await reader.read()).value) === ':\n\n') comments += 1;
  await reader.cancel();
});

test('HEAD does not subscribe', async () => {
  const { subscribers, app } = watchedApp();
  const response = await app.request('/tasks/events', { method: 'HEAD' });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  expect(subscribers.size).toBe(0);
});
