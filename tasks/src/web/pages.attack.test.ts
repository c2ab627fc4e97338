import { setTimeout as sleep } from 'node:timers/promises';
import { costOfAttack } from '@longhand/shared/testing/attack.ts';
import { expect, test } from 'vitest';
import { serviceOfTest, useService } from '../../testing/service.ts';

const kept = useService();

test('slow pages for one client hardly delay other clients', async () => {
  const { url: attacked } = kept.service;
  const { url: quiet } = await serviceOfTest({ REDIS_URL: kept.url });
  const get = async (url: string, path: string, client: string, signal?: AbortSignal) => {
    const response = await fetch(`${url}${path}`, { headers: { 'X-Forwarded-For': client }, signal });
    await response.bytes();
    return response.status;
  };
  const title = Array.from({ length: 24 }, (_, i) => `https://bit.ly/${i}x`).join(' ');
  const body = Array.from({ length: 400 }, (_, i) => `${i} ${title}\n`).join('');
  const added = await fetch(`${attacked}tasks/import`, {
    method: 'POST',
    headers: { 'Content-Type': 'text/plain', 'Sec-Fetch-Site': 'same-origin' },
    body,
  });
  expect(added.status).toBe(200);
  const page = await (await fetch(attacked)).text();
  const [after = ''] = /after=[^"&]+/.exec(page) ?? [];

  const { ratio, failed } = await costOfAttack(
    { attacked, quiet },
    (url) => get(url, '', '192.0.2.2'),
    async (over, begun) => {
      const sent: Promise<unknown>[] = [];
      for (; !over.aborted; await sleep(14)) {
        sent.push(get(attacked, `?${after}`, '192.0.2.1', over).catch(() => {}));
        if (sent.length === 50) begun();
      }
      await Promise.all(sent);
    },
  );
  expect(failed).toEqual([]);
  expect(ratio).toBeLessThan(5);
});
