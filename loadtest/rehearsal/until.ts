import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves once `condition` holds. @throws Error if it does not within `seconds`. */
export async function until(condition: () => boolean | Promise<boolean>, seconds: number): Promise<void> {
  for (const deadline = Date.now() + seconds * 1_000; !(await condition()); await sleep(50)) {
    if (Date.now() > deadline) throw new Error(`did not come back within ${seconds} s`);
  }
}

/** Resolves after `seconds`. */
export const pause = (seconds: number) => sleep(seconds * 1_000);
