import type { Log } from './log.ts';

/** What a server answered without asking the application: what is no HTTP, a Host that is none. */
export interface Refusal {
  status: number;
  /** A code, or a few words: `HPE_INVALID_METHOD`. */
  reason: string;
}

/** Milliseconds in which refusals of one kind share a line. */
const together = 1_000;

/** Writes one line a second of each kind of refusal, with how many there were: a flood is no flood of lines. */
export function refusals(log: Pick<Log, 'info' | 'error'>): (refusal: Refusal) => void {
  const kinds = new Map<string, Refusal & { times: number }>();
  const write = () => {
    for (const kind of kinds.values()) log[kind.status >= 500 ? 'error' : 'info'](kind, 'refused');
    kinds.clear();
  };
  return ({ status, reason }) => {
    if (kinds.size === 0) setTimeout(write, together).unref();
    const kind = kinds.get(reason) ?? { status, reason, times: 0 };
    kind.times += 1;
    kinds.set(reason, kind);
  };
}
