/** Returns a signal that is aborted on SIGTERM or SIGINT (Ctrl-C). */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => stop.abort(name));
  return stop.signal;
}
