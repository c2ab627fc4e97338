import { send } from '@longhand/shared/testing/send.ts';
import { describe, expect, test } from 'vitest';
import type { TestStack } from '../testing/test-stack.ts';

/** The rules of the tasks application, seen from outside through the proxy. */
export function tasksRules(stack: () => TestStack): void {
  test.each(['bytes=0-1', 'bytes=0-1,3-4', 'bytes=0-0,-1,5-6', 'bytes=999999-', 'bytes=x', 'lines=1-2'])(
    'a public file ignores Range: %s',
    async (Range) => {
      for (const encoding of ['identity', 'gzip']) {
        const options = { headers: { Range, 'Accept-Encoding': encoding } };
        const { status, headers } = await send(stack().tasksPort, '/public/style.css', options);
        expect(status).toBe(200);
        expect(headers['content-type']).toMatch(/^text\/css/);
      }
    },
  );

  describe('Its own port', () => {
    test.each(['localhost', 'tasks.localhost', '127.0.0.1', 'a-machine', 'a-machine.local'])(
      'answers to the name %s',
      async (name) => {
        const { tasksPort } = stack();
        expect((await send(tasksPort, '/', { host: `${name}:${tasksPort}` })).status).toBe(200);
      },
    );

    test('refuses names that anyone can point here: such a page would be same-origin with the list', async () => {
      const { tasksPort } = stack();
      const host = `evil.example:${tasksPort}`;
      const headers = { Origin: `http://${host}`, 'Sec-Fetch-Site': 'same-origin' };
      const response = await send(tasksPort, '/', { host, headers });
      expect(response.status).toBe(421);
      expect(response.body).toContain('The task list does not answer to this name.');
    });
  });
}
