import { randomUUID } from 'node:crypto';
import { send } from '@longhand/shared/testing/send.ts';
import { expect, test } from 'vitest';
import { openSession } from '../testing/session.ts';
import { serviceNames, type TestStack } from '../testing/test-stack.ts';
import { expanderRules } from './expander.ts';
import { proxyRules } from './proxy.ts';

/** Defines the tests that every stack must pass. */
export function acceptanceRules(stack: () => TestStack): void {
  proxyRules(stack);
  expanderRules(stack);

  test('tasks, open forms and links still work after a crash of all five services', {
    timeout: 180_000,
  }, async () => {
    const { expanderPort, tasksPort, shortener } = stack();
    const session = openSession(tasksPort);
    const title = `kept ${randomUUID()}`;
    expect((await session.add(title)).status).toBe(302);
    const _csrf = await session.token();
    await Promise.all(serviceNames.map((service) => stack().kill(service)));

    const link = () => `/api?u=${encodeURIComponent(`${shortener}/chain/2?${randomUUID()}`)}`;
    const statusOf = (port: number, path: string) => send(port, path).then(({ status }) => status, String);
    for (const [port, path] of [
      [tasksPort, '/'],
      [expanderPort, link()],
    ] as const)
      await expect.poll(() => statusOf(port, path), { timeout: 90_000 }).toBe(200);
    expect((await session.post({ title: `after ${title}`, _csrf })).status).toBe(302);
    const titles = (await session.tasks()).map((task) => task.title);
    expect(titles).toEqual(expect.arrayContaining([title, `after ${title}`]));
  });
}
