import { setImmediate as othersTurn } from 'node:timers/promises';

/** Milliseconds of work after which others have a turn of the event loop. */
const longestTurn = 10;

/** Returns a function to await between two pieces of long work: it lets others have a turn every 10 ms. */
export function turns(): () => Promise<void> {
  let began = performance.now();
  return async () => {
    if (performance.now() - began < longestTurn) return;
    await othersTurn();
    began = performance.now();
  };
}
