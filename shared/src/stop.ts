/** A signal that is aborted when the process is asked to end (SIGTERM, or Ctrl-C's SIGINT). */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => stop.abort(name));
  return stop.signal;
}
