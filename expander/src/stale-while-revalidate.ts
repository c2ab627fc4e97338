import type { Trace, TraceOptions } from './expansion.ts';
import { soon } from './soon.ts';

/** Answers at once with a remembered expansion past its time, and has it made anew for the next who asks. */
export function staleWhileRevalidate(trace: Trace): Trace {
  const refresh = async (url: string, { follow, maxRedirect }: TraceOptions) => {
    await trace(url, { follow, maxRedirect, refresh: true });
  };
  return (url, options) =>
    soon(trace(url, options), (expansion) => {
      // Nobody waits for it; what goes wrong leaves the entry as it is.
      if (expansion.cached && expansion.freshUntil <= Date.now()) refresh(url, options).catch(() => {});
      return expansion;
    });
}
