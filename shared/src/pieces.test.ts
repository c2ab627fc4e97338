import { expect, test } from 'vitest';
import { createPieceQueue } from './pieces.ts';

/** Returns the text of the next piece, or undefined at the end. */
const taken = async (queue: ReturnType<typeof createPieceQueue>) => (await queue.next()).value?.();

test('pieces are taken in order, also before they exist', async () => {
  const queue = createPieceQueue();
  const first = taken(queue);
  queue.push(() => 'a');
  queue.push(() => 'b');
  expect([await first, queue.length, await taken(queue)]).toEqual(['a', 1, 'b']);
  const last = taken(queue);
  queue.end();
  queue.push(() => 'late');
  expect([await last, await taken(queue)]).toEqual([undefined, undefined]);
});

test('an error follows the waiting pieces', async () => {
  const queue = createPieceQueue();
  queue.push(() => 'a');
  queue.end(new Error('a fault'));
  expect(await taken(queue)).toBe('a');
  await expect(taken(queue)).rejects.toThrow('a fault');
});

test('a client that disconnects ends the queue', async () => {
  let cancelled = 0;
  const queue = createPieceQueue(() => {
    cancelled += 1;
  });
  queue.push(() => 'a');
  await queue.return();
  queue.push(() => 'late');
  expect([await taken(queue), queue.length, cancelled]).toEqual([undefined, 0, 1]);
});
