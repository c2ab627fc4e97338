import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createTurns } from './turns.ts';

/** Records the start of each piece of work, and each turn of the event loop as `|`. */
function recorded() {
  const turns = createTurns();
  const begun: string[] = [];
  return {
    begun,
    async piece(name: string, clients: string[], signal?: AbortSignal) {
      await turns(clients, signal);
      begun.push(name);
    },
    async turnsOfLoop(count: number) {
      for (let i = 0; i < count; i += 1) {
        await nextTurn();
        begun.push('|');
      }
      return begun.join(' ');
    },
  };
}

test('createTurns() starts one piece of work per turn of the event loop and alternates between clients', async () => {
  const { piece, turnsOfLoop } = recorded();
  for (const name of ['a1', 'a2', 'a3', 'a4']) piece(name, ['a']);
  piece('b1', ['b']);
  expect(await turnsOfLoop(3)).toBe('a1 | b1 | a2 |');
  piece('c1', ['c']);
  expect(await turnsOfLoop(4)).toBe('a1 | b1 | a2 | a3 | c1 | a4 | |');
});

test('createTurns() starts shared work as soon as either client has a turn', async () => {
  const { piece, turnsOfLoop } = recorded();
  piece('a1', ['a']);
  piece('a2', ['a']);
  piece('both', ['a', 'b']);
  expect(await turnsOfLoop(5)).toBe('a1 | both | a2 | | |');
});

test('createTurns() rejects the work of a disconnected client without delaying other clients', async () => {
  const { piece, turnsOfLoop } = recorded();
  const leaving = new AbortController();
  const left = Array.from({ length: 10 }, () => piece('left', ['a'], leaving.signal));
  const stays = piece('stays', ['b']);
  leaving.abort(new Error('left'));
  expect(await Promise.allSettled(left)).toEqual(
    Array(10).fill({ status: 'rejected', reason: new Error('left') }),
  );
  await stays;
  expect(await turnsOfLoop(1)).toBe('stays |');
  await expect(piece('late', ['a'], leaving.signal)).rejects.toThrow('left');
});
