import { expectSmallDelay } from '@longhand/shared/testing/attack.ts';
import { expect, test } from 'vitest';
import { serviceOfTest, useService } from '../../testing/service.ts';

const kept = useService();

test('slow pages for one client hardly delay other clients', async () => {
  const { service: attacked } = kept;
  const quiet = await serviceOfTest({ REDIS_URL: kept.url });
  const get = async (url: string, path: string, client: string, signal?: AbortSignal) => {
    const response = await fetch(`${url}${path}`, { headers: { 'X-Forwarded-For': client }, signal });
    await response.bytes();
    return response.status;
  };
  // The service cannot cache the rows of so many pages.
  const title = Array.from({ length: 24 }, (_, i) => `https://bit.ly/${i}x`).join(' ');
  const body = Array.from({ length: 1_200 }, (_, i) => `${i} ${title}\n`).join('');
  const headers = { 'Content-Type': 'text/plain', 'Sec-Fetch-Site': 'same-origin' };
  expect((await fetch(`${attacked.url}tasks/import`, { method: 'POST', headers, body })).status).toBe(200);
  const later: string[] = [];
  for (let after = ''; later.length < 11; later.push(after)) {
    const page = await (await fetch(`${attacked.url}?${after}`)).text();
    [after = ''] = /after=[^"]+(?=" rel="next")/.exec(page) ?? [];
  }

  await expectSmallDelay(
    { attacked, quiet },
    (url) => get(url, '', '192.0.2.2'),
    async (over, begun) => {
      const attacker = async (_: unknown, i: number) => {
        for (; !over.aborted; i += 1) {
          await get(attacked.url, `?${later[i % later.length]}`, '192.0.2.1', over).catch(() => {});
          begun();
        }
      };
      await Promise.all(Array.from({ length: 30 }, attacker));
    },
  );
});
