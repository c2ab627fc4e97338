import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Looks again and again until there is something, and resolves with it.
 *
 * @throws Error if there is nothing within `seconds`.
 */
export async function until<Found>(look: () => Promise<Found>, seconds: number): Promise<NonNullable<Found>> {
  for (const deadline = Date.now() + seconds * 1_000; ; await sleep(50)) {
    const found = await look();
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`did not come back within ${seconds} s`);
  }
}

/** Resolves after `seconds`. */
export const pause = (seconds: number) => sleep(seconds * 1_000);
