import { expect, test } from 'vitest';
import { createFairQueue } from './fair-queue.ts';

const settled = () => new Promise(setImmediate);

/** Work that is in progress until it is told to end; `started` names it in the order of its turns. */
function work() {
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    started,
    run(list: ReturnType<ReturnType<typeof createFairQueue>>, name: string, origin = 'http://a.example') {
      return list.run(origin, () => {
        started.push(name);
        return new Promise<void>((resolve) => ends.set(name, resolve));
      });
    },
    async end(name: string) {
      ends.get(name)?.();
      await settled();
    },
  };
}

test('a list whose client has left is passed over', async () => {
  const { started, run, end } = work();
  const open = createFairQueue({ maxInFlight: 1 });
  run(open('a'), 'first');
  const leaving = new AbortController();
  const list = open('a', leaving.signal);
  const left = run(list, 'left');
  run(open('a'), 'last');
  leaving.abort();
  await expect(left).rejects.toMatchObject({ code: 'aborted' });
  await expect(run(list, 'late')).rejects.toMatchObject({ code: 'aborted' });
  await end('first');
  expect(started).toEqual(['first', 'last']);
});

test('a client with one list has as many places as a client with three', async () => {
  const { started, run, end } = work();
  const open = createFairQueue({ maxInFlight: 4 });
  const busy = [open('busy'), open('busy'), open('busy')];
  for (const name of ['1', '2', '3', '4']) for (const list of busy) run(list, `${busy.indexOf(list)}${name}`);
  const quiet = open('quiet');
  for (const name of ['q1', 'q2', 'q3']) run(quiet, name);
  await settled();
  for (const name of started.slice()) await end(name);
  expect(started.slice(4)).toEqual(['q1', 'q2', '12', '22']);
});

test('lists of clients with as many places take turns', async () => {
  const { started, run, end } = work();
  const open = createFairQueue({ maxInFlight: 1 });
  const [a, b, c] = [open('a'), open('b'), open('b')];
  for (const name of ['a1', 'a2', 'a3']) run(a, name);
  for (const [list, name] of [
    [b, 'b1'],
    [b, 'b2'],
    [c, 'c1'],
  ] as const)
    run(list, name);
  await settled();
  for (const name of ['a1', 'b1', 'c1', 'a2', 'b2']) await end(name);
  expect(started).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
});

test('the lists in progress are limited for each client and in total', () => {
  const open = createFairQueue({ maxListsPerClient: 2, maxLists: 3 });
  const overloaded = expect.objectContaining({ code: 'overloaded' });
  const [first] = [open('a'), open('a')];
  expect(() => open('a')).toThrow(overloaded);
  open('b');
  expect(() => open('c')).toThrow(overloaded);
  first?.close();
  first?.close();
  open('c');
  expect(() => open('c')).toThrow(overloaded);
});
