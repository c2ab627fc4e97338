/**
 * Wraps `run` so that calls during a run share the next run. Each result comes from a run that started after the call.
 * Waiting calls fail with the current run. Otherwise they would wait for a hung store twice.
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
