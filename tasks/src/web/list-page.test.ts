import { expect, test } from 'vitest';
import { useApp } from '../../testing/app.ts';

const kept = useApp();

test('a later page is at least page 2, even if few tasks precede it', async () => {
  const task = { title: 'task', finished: 0, created_at: kept.now.toISOString() } as const;
  await kept.store.insert(Array(101).fill(task));
  const pageOf = async (path: string) => (await kept.app.request(path)).text();
  const next = /href="([^"]*)"[^>]*rel="next"/.exec(await pageOf('/'))?.[1]?.replaceAll('&amp;', '&') ?? '';
  for (let id = 101; id > 61; id -= 1) await kept.store.destroy(`${id}`, 'removal');
  for (let id = 60; id > 20; id -= 1) await kept.store.destroy(`${id}`, 'removal');
  expect(await pageOf(next)).toContain('Page 2 of 2');
});
