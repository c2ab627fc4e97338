import { expect, test } from 'vitest';
import { useStore } from '../../testing/store.ts';
import { createSearch } from './search.ts';
import { pageSize } from './task.ts';

const kept = useStore();
const now = new Date().toISOString();
/** Adds tasks. The last task comes first in the list. */
const insert = (titles: string[], finished: 0 | 1 = 0) =>
  kept.store.insert(titles.map((title) => ({ title, finished, created_at: now })));
const numbered = (count: number, title = 'task') => Array.from({ length: count }, (_, i) => `${title} ${i}`);
const noTurn = async () => {};

async function find(q: string, filter: 'all' | 'open' | 'finished' = 'all', clock?: () => number) {
  const { tasks, search } = await createSearch(kept.store, clock)({ filter, q }, 'client', noTurn);
  return { titles: tasks.map(({ title }) => title), ...search };
}

test.each([
  ['MILK oat', 'Oat milk', 'Milk'],
  ['cafe', 'Café au lait', 'Coffee'],
  ["d'ÉTÉ", 'Vacances d’été', 'Vacances d’hiver'],
  ['lodz “smørre”', 'Łódź: "smorre"', 'Łódź: "smör"'],
  ['strasse', 'Straße', 'Strase'],
  ['STRAẞE', 'Strasse', 'Trasse'],
  ['οδος', 'ΟΔΟΣ', 'ΔΟΣΗ'],
  ['istanbul', 'İSTANBUL', 'Ankara'],
  ['がく', '学 かく', '学 きく'],
  ['كتاب', 'كِتَاب', 'كاتب'],
  ['कि', 'किताब', 'कागज़'],
  ['  milk  ', 'milk', 'silk'],
  ['abc 12', 'ＡＢＣ １２', 'ＡＢＤ １２'],
  ['ガム', 'ｶﾞﾑ', 'ｶﾞｽ'],
  ['e-mail', 'e\u2011mail', 'email'],
  ['e‐mail', 'E-Mail', 'email'],
  ['1914-1918', '1914–1918', '1914 1918'],
  ['kindergarten', 'Kinder\u00adgarten', 'Kinder garten'],
])('%j finds %j, not %j', async (q, found, other) => {
  await insert([found, other]);
  expect(await find(q)).toEqual({ titles: [found], searched: 2 });
});

test('finds no task if the query has only accents', async () => {
  await insert(['Café', 'milk']);
  expect(await find('\u0301 \u0308')).toEqual({ titles: [], searched: 2 });
});

test('searches the filtered tasks in list order', async () => {
  await insert(['open milk 1', 'open milk 2', 'bread']);
  await insert(['finished milk'], 1);
  expect((await find('milk')).titles).toEqual(['open milk 2', 'open milk 1', 'finished milk']);
  expect(await find('milk', 'open')).toEqual({ titles: ['open milk 2', 'open milk 1'], searched: 3 });
  expect(await find('milk', 'finished')).toEqual({ titles: ['finished milk'], searched: 1 });
});

test('stops after the first 100 matches', async () => {
  await insert(numbered(150));
  const { titles, ...rest } = await find('task');
  expect(titles).toEqual(numbered(150).toReversed().slice(0, pageSize));
  expect(rest).toEqual({ searched: 100, stopped: 'matches' });
  expect(await find('task 14')).toMatchObject({ searched: 150 });
});

/** A clock that advances by `step` milliseconds per call. */
function clock(step: number) {
  let time = 0;
  return () => {
    time += step;
    return time;
  };
}

test.each([
  ['a second', 0.7, 1_420],
  ['1,000 titles, if they take longer than a second', 10, 1_000],
])('stops after %s', async (_, step, most) => {
  await insert(numbered(2_100));
  const { searched, stopped } = await find('none', 'all', clock(step));
  expect(stopped).toBe('time');
  expect(searched).toBeGreaterThanOrEqual(1_000);
  expect(searched).toBeLessThanOrEqual(most);
});

test('waits for a turn of the event loop every 5 ms', async () => {
  await insert(numbered(100));
  let turns = 0;
  await createSearch(kept.store, clock(1))({ filter: 'all', q: 'none' }, 'client', async () => {
    turns += 1;
  });
  expect(turns).toBeGreaterThanOrEqual(20);
});

test('runs one search at a time per client without delaying other clients', async () => {
  await insert(['milk']);
  const search = createSearch(kept.store);
  const query = { filter: 'all', q: 'milk' } as const;
  const { promise: turn, resolve: giveTurn } = Promise.withResolvers<void>();
  const order: string[] = [];
  const begin = (name: string, client: string, wait = noTurn) =>
    search(query, client, wait).then(() => order.push(name));
  const ofFirst = [begin('first', 'a', () => turn), begin('second', 'a')];
  await begin('other', 'b');
  expect(order).toEqual(['other']);
  giveTurn();
  await Promise.all(ofFirst);
  expect(order).toEqual(['other', 'first', 'second']);
});

test('reads at most 2,000 titles or about 128 KiB per script', async () => {
  await insert(numbered(2_001));
  await insert(Array.from({ length: 100 }, () => '𝄞'.repeat(500)));
  const batches = await Array.fromAsync(kept.store.titles('all'));
  expect(batches.map(({ length }) => length)).toEqual([66, 2_000, 35, 0]);
});
