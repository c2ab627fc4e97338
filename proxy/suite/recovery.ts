import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { send } from '../testing/send.ts';
import { openSession } from '../testing/session.ts';
import type { TestStack } from '../testing/test-stack.ts';

/** When a service fails: a status that a client can act on, a page for people, and recovery without help. */
export function recoveryRules(stack: () => TestStack): void {
  const statusOf = (port: number, path = '/') => send(port, path).then(({ status }) => status);
  const recovers = (port: number, path = '/') =>
    expect.poll(() => statusOf(port, path), { timeout: 60_000 }).toBe(200);

  describe('When a service fails', { timeout: 120_000 }, () => {
    test('a crashed store: 503 with Retry-After, and no acknowledged task is lost', async () => {
      const { tasksPort } = stack();
      const session = openSession(tasksPort);
      const title = `kept ${randomUUID()}`;
      expect((await session.add(title)).status).toBe(302);
      await stack().pause('tasks-store');
      const { status, headers, body } = await session.get('/');
      await stack().kill('tasks-store');
      expect(status).toBe(503);
      expect(headers['retry-after']).toMatch(/^\d+$/);
      expect(body).toMatch(/<h1>/);
      await recovers(tasksPort);
      expect((await session.tasks()).map((task) => task.title)).toContain(title);
    });

    test('a crashed cache: the expander works without it', async () => {
      const { expanderPort, shortener } = stack();
      await stack().kill('expander-cache');
      const { status, body } = await send(expanderPort, `/api?u=${shortener}/chain/2?${randomUUID()}`);
      expect(status).toBe(200);
      expect(body).toContain('/chain/0');
      await expect
        .poll(
          async () => {
            const chain = await send(expanderPort, `/api/chain?${randomUUID()}&u=${shortener}/chain/1`);
            return JSON.parse(chain.body).cached;
          },
          { timeout: 60_000 },
        )
        .toBe(true);
    });

    test('a crashed expander: 502 with Retry-After and the headers of the expander, then a restart', async () => {
      const { expanderPort, tasksPort } = stack();
      await stack().pause('expander');
      const waiting = send(expanderPort, '/');
      await stack().kill('expander');
      const { status, headers } = await waiting;
      expect([status, headers['retry-after'], headers['x-power-by']]).toEqual([502, '5', 'Longhand']);
      expect(await statusOf(tasksPort)).toBe(200);
      await recovers(expanderPort);
    });

    test('crashed tasks: a form from before the crash still works after the restart', async () => {
      const { tasksPort } = stack();
      const session = openSession(tasksPort);
      const _csrf = await session.token();
      await stack().kill('tasks');
      await recovers(tasksPort);
      expect((await session.post({ title: `after ${randomUUID()}`, _csrf })).status).toBe(302);
    });

    test('a crashed proxy is restarted', async () => {
      const { tasksPort } = stack();
      const connection = connect(tasksPort, '127.0.0.1');
      await once(connection, 'connect');
      const ended = once(
        connection.on('error', () => {}),
        'close',
      );
      await stack().kill('proxy');
      await ended;
      await expect.poll(() => statusOf(tasksPort).catch(() => 0), { timeout: 60_000 }).toBe(200);
    });
  });
}
