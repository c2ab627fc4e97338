/**
 * Wraps `run` so that calls during a run share the next run. Each result comes from a run that started after the call. If the
 * current run fails, waiting calls fail too, so that a hung store delays them only once.
 */
export function coalesce<Result>(run: () => Promise<Result>): () => Promise<Result> {
  let current: Promise<Result> | undefined;
  let next: Promise<Result> | undefined;
  const start = () => {
    const started = run().finally(() => {
      next = undefined;
      if (current === started) current = undefined;
    });
    current = started;
    return started;
  };
  return () => {
    if (!current) return start();
    next ??= current.then(start);
    return next;
  };
}
