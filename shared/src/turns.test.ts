import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createTurns } from './turns.ts';

/** Records the start of each piece of work, and each turn of the event loop as `|`. Each piece takes `milliseconds`. */
function recorded(milliseconds: number) {
  let time = 0;
  const turns = createTurns(() => time);
  const begun: string[] = [];
  const piece = async (name: string, clients: string[], signal?: AbortSignal) => {
    await turns(() => clients, signal);
    // The work may continue in later microtasks.
    await null;
    begun.push(name);
    time += milliseconds;
  };
  return {
    piece,
    async turnsOfLoop(count: number) {
      for (let i = 0; i < count; i += 1) {
        await nextTurn();
        begun.push('|');
      }
      return begun.join(' ');
    },
  };
}

test('work starts at once if nothing waits, without a promise', () => {
  const turns = createTurns(() => 0);
  for (const client of ['a', 'a', 'b']) expect(turns(() => [client])).toBeUndefined();
});

test('work waits once this turn of the event loop has lasted 2 ms', async () => {
  let time = 0;
  const turns = createTurns(() => time);
  turns(() => ['a']);
  time = 1.9;
  expect(turns(() => ['a'])).toBeUndefined();
  time = 2;
  expect(turns(() => ['b'])).toBeInstanceOf(Promise);
  // Nobody overtakes.
  time = 1;
  expect(turns(() => ['c'])).toBeInstanceOf(Promise);
  await nextTurn();
  await nextTurn();
  expect(turns(() => ['a'])).toBeUndefined();
});

test('clients alternate, and a long piece has a turn of the event loop to itself', async () => {
  const { piece, turnsOfLoop } = recorded(2);
  piece('first', ['a']);
  await null;
  await null;
  for (const name of ['a1', 'a2', 'a3', 'a4']) piece(name, ['a']);
  piece('b1', ['b']);
  expect(await turnsOfLoop(3)).toBe('first a1 | b1 | a2 |');
  piece('c1', ['c']);
  expect(await turnsOfLoop(4)).toBe('first a1 | b1 | a2 | a3 | c1 | a4 | |');
});

test('short pieces share a turn of the event loop until they have taken 2 ms', async () => {
  const { piece, turnsOfLoop } = recorded(0.5);
  for (let i = 0; i < 4; i += 1) piece('first', ['a']);
  await null;
  await null;
  for (const name of ['a1', 'a2', 'a3', 'a4']) piece(name, ['a']);
  for (const name of ['b1', 'b2']) piece(name, ['b']);
  expect(await turnsOfLoop(3)).toBe('first first first first a1 b1 a2 b2 | a3 a4 | |');
});

test('work for several clients starts as soon as one of them has a turn', async () => {
  const { piece, turnsOfLoop } = recorded(2);
  piece('first', ['a']);
  await null;
  await null;
  piece('a1', ['a']);
  piece('a2', ['a']);
  piece('both', ['a', 'b']);
  expect(await turnsOfLoop(4)).toBe('first a1 | both | a2 | |');
});

test('the work of a disconnected client leaves the queue without delaying other clients', async () => {
  const { piece, turnsOfLoop } = recorded(2);
  piece('first', ['b']);
  await null;
  await null;
  const leaving = new AbortController();
  const left = Array.from({ length: 10 }, () => piece('left', ['a'], leaving.signal));
  const stays = piece('stays', ['b']);
  leaving.abort(new Error('left'));
  expect(await Promise.allSettled(left)).toEqual(
    Array(10).fill({ status: 'rejected', reason: new Error('left') }),
  );
  await stays;
  expect(await turnsOfLoop(1)).toBe('first stays |');
  await expect(piece('late', ['a'], leaving.signal)).rejects.toThrow('left');
});
