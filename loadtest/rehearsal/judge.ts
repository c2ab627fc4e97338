import type { Drill, Judge } from './fault.ts';
import type { Kind, Request } from './load.ts';

/** The requests of `kinds`, by default all. */
const of = (kinds: readonly Kind[], requests: readonly Request[]) =>
  requests.filter(({ kind }) => kinds.length === 0 || kinds.includes(kind));

/** Requests by kind and status, such as `3 write 503`. */
export function tally(requests: readonly Request[]): string {
  const groups = Map.groupBy(requests, ({ kind, status }) => `${kind} ${status}`);
  return [...groups].map(([what, { length }]) => `${length} ${what}`).join(', ');
}

type Times = Pick<Drill, 'began' | 'ended'>;

/** Since the fault began, `isBroken` holds for no request of `kinds`. */
const none =
  (words: string, kinds: Kind[], isBroken: (request: Request, times: Times) => boolean): Judge =>
  (observed) => {
    const since = of(kinds, observed.requests).filter(({ at }) => at >= observed.began);
    const found = since.filter((request) => isBroken(request, observed));
    if (found.length === 0) return undefined;
    const longest = Math.max(...found.map(({ milliseconds }) => milliseconds)) / 1_000;
    const last = Math.max(...found.map(({ at }) => at - observed.began)) / 1_000;
    return `${words}: ${tally(found)}, the slowest in ${longest.toFixed(1)} s, the last after ${last.toFixed(1)} s`;
  };

/** No request fails. */
export const noneFails = (...kinds: Kind[]) => none('failed', kinds, ({ right }) => !right);

/** No request that begins more than `seconds` after the fault has begun, or ended, fails. */
export const noneFailsLater = (than: 'began' | 'ended', seconds: number) =>
  none(`failed, begun later than ${seconds} s after the fault ${than}`, [], (request, times) => {
    const begun = request.at - request.milliseconds;
    return !request.right && begun > times[than] + seconds * 1_000;
  });

/** No request fails more than `seconds` after the fault began, whenever it was sent. */
export const lastFailsWithin = (seconds: number) =>
  none(`failed later than ${seconds} s after the fault began`, [], ({ right, at }, { began }) => {
    return !right && at > began + seconds * 1_000;
  });

/** Every request ends within `seconds`. */
export const answersWithin = (seconds: number, ...kinds: Kind[]) =>
  none(`took longer than ${seconds} s`, kinds, ({ milliseconds }) => milliseconds > seconds * 1_000);

/** Requests fail with `code` only. */
export const failsOnlyWith = (code: number, ...kinds: Kind[]) =>
  none(`failed otherwise than with ${code}`, kinds, ({ right, status }) => !right && status !== code);

/** The median of `kinds` grows to at most `times` its value before the fault; up to 50 ms is always fine. */
export const slowedAtMost =
  (times: number, ...kinds: Kind[]): Judge =>
  ({ requests, began, ended }) => {
    const median = (some: readonly Request[]) =>
      some.map(({ milliseconds }) => milliseconds).toSorted((a, b) => a - b)[some.length >> 1] ?? 0;
    const ours = of(kinds, requests);
    const before = median(ours.filter(({ at }) => at < began));
    const meanwhile = median(ours.filter(({ at }) => at >= began && at <= ended));
    return meanwhile > Math.max(50, times * before)
      ? `median ${meanwhile.toFixed(0)} ms, before ${before.toFixed(0)} ms`
      : undefined;
  };

/** After each exit, a new request of `kind` succeeds within `seconds`, unless the next exit comes first. */
export const backWithin =
  (seconds: number, kind: Kind): Judge =>
  ({ requests, exits }) => {
    const answered = of([kind], requests).filter(({ right }) => right);
    const waits = exits.map((exit, i) => {
      const next = answered.find(({ at, milliseconds }) => at - milliseconds > exit)?.at ?? Infinity;
      return Math.min(next, exits[i + 1] ?? Infinity) - exit;
    });
    const longest = Math.max(0, ...waits) / 1_000;
    return longest > seconds
      ? `no ${kind} was answered for ${longest.toFixed(1)} s after an exit`
      : undefined;
  };
