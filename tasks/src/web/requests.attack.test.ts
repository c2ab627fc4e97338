import { expectSmallDelay } from '@longhand/shared/testing/attack.ts';
import { expect, test } from 'vitest';
import { serviceOfTest, useService } from '../../testing/service.ts';

const kept = useService();

const get = async (url: string, client: string, signal?: AbortSignal) => {
  const response = await fetch(url, { headers: { 'X-Forwarded-For': client }, signal });
  await response.bytes();
  return response.status;
};

/** The largest list that one import can create. */
async function fill(url: string): Promise<void> {
  const body = Array.from({ length: 12_000 }, (_, i) => `${i} call the dentist about the invoice\n`).join('');
  const headers = { 'Content-Type': 'text/plain', 'Sec-Fetch-Site': 'same-origin' };
  expect((await fetch(`${url}tasks/import`, { method: 'POST', headers, body })).status).toBe(200);
}

test.each([
  ['60 exports at a time', 60, () => 'tasks/export?format=json'],
  ['queries with 15,000 parameters', 30, (i: number) => `?i=${i}${'&a'.repeat(15_000)}`],
  ['queries of stray percent signs', 30, (i: number) => `?i=${i}${'&%'.repeat(15_000)}`],
])('%s for one client hardly delay other clients', async (_, connections, path) => {
  const { service: attacked } = kept;
  const quiet = await serviceOfTest({ REDIS_URL: kept.url });
  await fill(attacked.url);
  await expectSmallDelay(
    { attacked, quiet },
    (url) => get(url, '192.0.2.2'),
    async (over, begun) => {
      let sent = 0;
      const attacker = async () => {
        while (!over.aborted) {
          await get(`${attacked.url}${path(sent++)}`, '192.0.2.1', over).catch(() => {});
          begun();
        }
      };
      await Promise.all(Array.from({ length: connections }, attacker));
    },
  );
});
