import type { Log } from './log.ts';

/** A request that the server answered without asking the application: malformed HTTP, an invalid Host. */
export interface Refusal {
  status: number;
  /** A code such as `HPE_INVALID_METHOD`, or a few words. */
  reason: string;
}

/** Milliseconds in which refusals of one kind share a line. */
const interval = 1_000;

/** Logs one line a second for each kind of refusal, with its count, so that a flood does not fill the log. */
export function logRefusals(log: Pick<Log, 'info' | 'error'>): (refusal: Refusal) => void {
  const kinds = new Map<string, Refusal & { times: number }>();
  const write = () => {
    for (const kind of kinds.values()) log[kind.status >= 500 ? 'error' : 'info'](kind, 'refused');
    kinds.clear();
  };
  return ({ status, reason }) => {
    if (kinds.size === 0) setTimeout(write, interval).unref();
    const kind = kinds.get(reason) ?? { status, reason, times: 0 };
    kind.times += 1;
    kinds.set(reason, kind);
  };
}
