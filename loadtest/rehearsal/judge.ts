import type { Kind, Request } from './load.ts';

/** What the load saw of a fault. */
export interface Observed {
  readonly requests: readonly Request[];
  /** Milliseconds since 1970. */
  readonly began: number;
  readonly ended: number;
  /** When processes have ended by the fault. */
  readonly exits: readonly number[];
}

/** Says how a promise is broken; undefined if it is kept. */
export type Judge = (observed: Observed) => string | undefined;

const during = ({ requests, began }: Observed) => requests.filter(({ at }) => at >= began);
const of = (kinds: readonly Kind[]) => (request: Request) =>
  kinds.length === 0 || kinds.includes(request.kind);
const failed = (observed: Observed, kinds: readonly Kind[]) =>
  during(observed).filter((request) => !request.right && of(kinds)(request));

/** How many of which kind were answered with what, such as `3 write 503`. */
export function tally(requests: readonly Request[]): string {
  const groups = Map.groupBy(requests, ({ kind, status }) => `${kind} ${status}`);
  return [...groups].map(([what, { length }]) => `${length} ${what}`).join(', ');
}

/** A sentence about the requests that were found, if there are any. */
const unlessNone = (found: readonly Request[], words: string): string | undefined =>
  found.length > 0 ? `${words}: ${tally(found)}` : undefined;

/** No request of `kinds` (all if there are none) fails. */
export const noneFails =
  (...kinds: Kind[]): Judge =>
  (observed) =>
    unlessNone(failed(observed, kinds), 'failed');

/** No request that begins more than `seconds` after the fault has begun, or ended, fails. */
export const noneFailsLater =
  (than: 'began' | 'ended', seconds: number): Judge =>
  (observed) => {
    const late = failed(observed, []).filter(
      ({ at, milliseconds }) => at - milliseconds > observed[than] + seconds * 1_000,
    );
    return unlessNone(late, `failed, begun later than ${seconds} s after the fault ${than}`);
  };

/** No request fails more than `seconds` after the fault has begun, whenever it was sent. */
export const lastFailsWithin =
  (seconds: number): Judge =>
  (observed) => {
    const late = failed(observed, []).filter(({ at }) => at > observed.began + seconds * 1_000);
    const last = ((late.at(-1)?.at ?? 0) - observed.began) / 1_000;
    return unlessNone(
      late,
      `failed later than ${seconds} s after the fault began (up to ${last.toFixed(1)})`,
    );
  };

/** Every request of `kinds` is answered, or fails, within `seconds`. */
export const answersWithin =
  (seconds: number, ...kinds: Kind[]): Judge =>
  (observed) => {
    const slow = during(observed).filter(
      (request) => request.milliseconds > seconds * 1_000 && of(kinds)(request),
    );
    const longest = Math.max(...slow.map(({ milliseconds }) => milliseconds)) / 1_000;
    return unlessNone(slow, `took longer than ${seconds} s (up to ${longest.toFixed(1)})`);
  };

/** Requests of `kinds` fail with `status` only. */
export const failsOnlyWith =
  (status: number, ...kinds: Kind[]): Judge =>
  (observed) => {
    const others = failed(observed, kinds).filter((request) => request.status !== status);
    return unlessNone(others, `failed otherwise than with ${status}`);
  };

/** The median of `kinds` is at most `times` what it was before; 50 ms are never too slow. */
export const slowedAtMost =
  (times: number, ...kinds: Kind[]): Judge =>
  ({ requests, began, ended }) => {
    const median = (some: readonly Request[]) =>
      some.map(({ milliseconds }) => milliseconds).toSorted((a, b) => a - b)[some.length >> 1] ?? 0;
    const ours = requests.filter(of(kinds));
    const before = median(ours.filter(({ at }) => at < began));
    const meanwhile = median(ours.filter(({ at }) => at >= began && at <= ended));
    return meanwhile > Math.max(50, times * before)
      ? `median ${meanwhile.toFixed(0)} ms, before ${before.toFixed(0)} ms`
      : undefined;
  };

/** A request of `kind` that begins after an exit is answered within `seconds` of it, unless the next exit comes first. */
export const backWithin =
  (seconds: number, kind: Kind): Judge =>
  ({ requests, exits }) => {
    const answered = requests.filter((request) => request.kind === kind && request.right);
    const waits = exits.map((exit, i) => {
      const next =
        answered.find(({ at, milliseconds }) => at - milliseconds > exit)?.at ?? Number.POSITIVE_INFINITY;
      return Math.min(next, exits[i + 1] ?? Number.POSITIVE_INFINITY) - exit;
    });
    const longest = Math.max(0, ...waits) / 1_000;
    return longest > seconds
      ? `no ${kind} was answered for ${longest.toFixed(1)} s after an exit`
      : undefined;
  };
