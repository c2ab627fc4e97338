import type { Trace } from './expansion.ts';

/** Answers at once with a remembered expansion past its time, and has it made anew for the next who asks. */
export function staleWhileRevalidate(trace: Trace): Trace {
  return async (url, options) => {
    const expansion = await trace(url, options);
    if (expansion.cached && expansion.freshUntil <= Date.now()) {
      const { follow, maxRedirect } = options;
      // Nobody waits for it; what goes wrong leaves the entry as it is.
      trace(url, { follow, maxRedirect, refresh: true }).catch(() => {});
    }
    return expansion;
  };
}
