/**
 * `ask`, made less often: calls that come while one is under way share the next, which begins when that one
 * has ended. So every caller's answer was asked for after the call, and is as fresh as one of its own.
 */
export function share<Answer>(ask: () => Promise<Answer>): () => Promise<Answer> {
  let running: Promise<Answer> | undefined;
  let next: Promise<Answer> | undefined;
  const start = () => {
    next = undefined;
    const asked = ask().finally(() => {
      if (running === asked) running = undefined;
    });
    running = asked;
    return asked;
  };
  return () => {
    if (!running) return start();
    next ??= running.then(start, start);
    return next;
  };
}
