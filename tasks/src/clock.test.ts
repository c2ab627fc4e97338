import { expect, test } from 'vitest';
import { addByForm, type Service, serviceOfTest } from '../testing/service.ts';
import { useStore } from '../testing/store.ts';

const kept = useStore();

/** A clock that is an hour ahead and an hour behind in turn, and jumps every 50 ms. @param first which comes first */
const jumpingClock = (first: 1 | -1) => `
  const real = Date;
  globalThis.Date = class extends real {
    constructor(...given) {
      if (given.length > 0) super(...given);
      else super(Date.now());
    }
    static now() {
      const now = real.now();
      return now + (Math.floor(now / 50) % 2 ? ${first} : ${-first}) * 3_600_000;
    }
  };`;

test('With clocks that jump and two stacks on one store, ids are unique and ordered, and nothing is lost', async () => {
  const start = (first: 1 | -1) =>
    serviceOfTest({
      REDIS_URL: kept.url,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(jumpingClock(first))}`,
    });
  const [one, two] = await Promise.all([start(1), start(-1)]);
  const json = { Accept: 'application/json', 'Content-Type': 'application/json' };
  const add = async ({ url }: Service, title: string) => {
    const response = await fetch(`${url}tasks`, {
      method: 'POST',
      headers: json,
      body: JSON.stringify({ title }),
    });
    return (await response.json()) as { _id: string; created_at: string };
  };
  const made: { _id: string; created_at: string }[] = [];
  for (let i = 0; i < 10; i++) made.push(await add(i % 2 ? one : two, `task ${i}`));
  const ids = made.map(({ _id }) => Number(_id));
  expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b));
  const times = made.map(({ created_at }) => Date.parse(created_at));
  expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(3_600_000);

  // A form of one is good on the other, and a change is seen by both.
  expect((await addByForm(two, 'by form', await fetch(one.url))).status).toBe(302);
  expect((await fetch(`${one.url}task/${ids[3]}/finish`, { redirect: 'manual' })).status).toBe(302);
  for (const { url } of [one, two]) {
    const { tasks } = (await (await fetch(`${url}tasks`, { headers: json })).json()) as {
      tasks: { _id: string; title: string }[];
    };
    const open = ids.filter((_, i) => i !== 3).toReversed();
    expect(tasks.map(({ _id }) => Number(_id))).toEqual([Number(tasks[0]?._id), ...open, ids[3]]);
    expect(tasks[0]?.title).toBe('by form');
  }
});
