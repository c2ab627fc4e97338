/**
 * Coalesces calls of `run`: calls that arrive during a run share the next one, which starts when the current one ends.
 * So each caller gets a result that was started after its call, and is never stale. If the current one fails, those
 * who wait fail with it: behind a store that hangs they would wait for two timeouts.
 */
export function coalesce<Result>(run: () => Promise<Result>): () => Promise<Result> {
  let current: Promise<Result> | undefined;
  let next: Promise<Result> | undefined;
  const start = () => {
    next = undefined;
    const started = run().finally(() => {
      if (current === started) current = undefined;
    });
    current = started;
    return started;
  };
  const fail = (error: unknown) => {
    next = undefined;
    throw error;
  };
  return () => {
    if (!current) return start();
    next ??= current.then(start, fail);
    return next;
  };
}
