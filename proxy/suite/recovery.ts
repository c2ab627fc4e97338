import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { ask } from '../testing/ask.ts';
import type { TestStack } from '../testing/test-stack.ts';
import { visitor } from '../testing/visitor.ts';

/** What happens when a part fails: a status a client can act on, a page for people, and recovery by itself. */
export function recoveryRules(stack: () => TestStack): void {
  const statusOf = (port: number, path = '/') => ask(port, path).then(({ status }) => status);
  const recovers = (port: number, path = '/') =>
    expect.poll(() => statusOf(port, path), { timeout: 60_000 }).toBe(200);

  describe('When a part fails', { timeout: 120_000 }, () => {
    test('a crashed store: 503 with Retry-After, and every task that was acknowledged is there again', async () => {
      const { tasksPort } = stack();
      const one = visitor(tasksPort);
      const title = `kept ${randomUUID()}`;
      expect((await one.add(title)).status).toBe(302);
      await stack().pause('tasks-store');
      const { status, headers, body } = await one.get('/');
      await stack().kill('tasks-store');
      expect(status).toBe(503);
      expect(headers['retry-after']).toMatch(/^\d+$/);
      expect(body).toMatch(/<h1>/);
      await recovers(tasksPort);
      expect((await one.tasks()).map((task) => task.title)).toContain(title);
    });

    test('a crashed cache: the expander goes on without it', async () => {
      const { expanderPort, shortener } = stack();
      await stack().kill('expander-cache');
      const { status, body } = await ask(expanderPort, `/api?u=${shortener}/chain/2?${randomUUID()}`);
      expect(status).toBe(200);
      expect(body).toContain('/chain/0');
      await expect
        .poll(
          async () => {
            const chain = await ask(expanderPort, `/api/chain?u=${shortener}/chain/1`);
            return JSON.parse(chain.body).cached;
          },
          { timeout: 60_000 },
        )
        .toBe(true);
    });

    test('a crashed expander: 502 with Retry-After and the headers of the expander, and it is started again', async () => {
      const { expanderPort, tasksPort } = stack();
      await stack().pause('expander');
      const waiting = ask(expanderPort, '/');
      await stack().kill('expander');
      const { status, headers } = await waiting;
      expect([status, headers['retry-after'], headers['x-power-by']]).toEqual([502, '5', 'Longhand']);
      expect(await statusOf(tasksPort)).toBe(200);
      await recovers(expanderPort);
    });

    test('crashed tasks: the form of before still works when they are started again', async () => {
      const { tasksPort } = stack();
      const one = visitor(tasksPort);
      const _csrf = await one.token();
      await stack().kill('tasks');
      await recovers(tasksPort);
      expect((await one.post({ title: `after ${randomUUID()}`, _csrf })).status).toBe(302);
    });

    test('a crashed proxy is started again', async () => {
      await stack().kill('proxy');
      await expect.poll(() => statusOf(stack().tasksPort).catch(() => 0), { timeout: 60_000 }).toBe(200);
    });
  });
}
