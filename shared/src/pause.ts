/** Milliseconds of work after which other requests get the event loop. */
const maxWork = 10;

/** To be awaited after each step of long work; undefined if it may go on. */
export type Pause = () => Promise<void> | undefined;

/** For work that blocks no other request. */
export const noPause: Pause = () => undefined;

/** Pauses for pieces of long work that run at the same time: they share the 10 ms, and go on one after the other. */
export function createPause(): Pause {
  const paused: (() => void)[] = [];
  let started = performance.now();
  const goOn = () => {
    started = performance.now();
    paused.shift()?.();
    if (paused.length > 0) setImmediate(goOn);
  };
  return () => {
    if (performance.now() - started < maxWork) return;
    if (paused.length === 0) setImmediate(goOn);
    return new Promise((resolve) => paused.push(resolve));
  };
}
