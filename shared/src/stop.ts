/** Returns a signal that aborts when the process is asked to stop: SIGTERM, or SIGINT from Ctrl-C. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => stop.abort(name));
  return stop.signal;
}
