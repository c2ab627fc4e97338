/**
 * Coalesces calls: those that arrive during a run share the next one, so each result is from a run that started after its
 * call. If the current run fails, the waiting calls fail with it: behind a hung store they would wait for two timeouts.
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
