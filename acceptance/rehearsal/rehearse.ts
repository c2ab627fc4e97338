import { expect, test } from 'vitest';
import { pause, type RehearsedStack, startContainers } from './containers.ts';
import { type Kind, type Request, settle, startMix } from './load.ts';

/** Duration of the load before and after a fault (s). */
const margin = { before: 2, after: 3 };

/** Effects of a fault on clients. Times are in seconds. If no request kinds are given, methods include all kinds. */
export class Drill {
  requests: readonly Request[] = [];
  /** Start and end of the fault (ms since 1970). */
  began = Date.now();
  ended = 0;

  #since(kinds: readonly Kind[]): Request[] {
    return this.requests.filter(
      ({ kind, at }) => at >= this.began && (kinds.length === 0 || kinds.includes(kind)),
    );
  }

  /** Lists failures by kind and status, such as `3 write 503`. Ignores responses with the status `allowed`. */
  failed(kinds: readonly Kind[] = [], allowed?: number): string {
    const failures = this.#since(kinds).filter(({ right, status }) => !right && status !== allowed);
    const groups = Map.groupBy(failures, ({ kind, status }) => `${kind} ${status}`);
    return [...groups].map(([what, { length }]) => `${length} ${what}`).join(', ');
  }

  /** Time between the start of the fault and the last failure. */
  lastFailed(): number {
    const failures = this.#since([]).filter(({ right }) => !right);
    return Math.max(0, ...failures.map(({ at }) => at - this.began)) / 1_000;
  }

  /** Send time of the last failed request, relative to the start or end of the fault. */
  lastSentThatFailed(after: 'began' | 'ended'): number {
    const failures = this.#since([]).filter(({ right }) => !right);
    return Math.max(0, ...failures.map(({ at, milliseconds }) => at - milliseconds - this[after])) / 1_000;
  }

  slowest(...kinds: Kind[]): number {
    return Math.max(0, ...this.#since(kinds).map(({ milliseconds }) => milliseconds)) / 1_000;
  }

  /** Median latencies before and during the fault. */
  medians(...kinds: Kind[]): { before: number; during: number } {
    const median = (from: number, to: number) => {
      const some = this.requests.filter(({ kind, at }) => kinds.includes(kind) && at >= from && at <= to);
      const sorted = some.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
      return (sorted[some.length >> 1] ?? 0) / 1_000;
    };
    return { before: median(0, this.began - 1), during: median(this.began, this.ended) };
  }
}

/**
 * Causes a fault under load, waits until the stack is healthy, and checks that the list has every acknowledged task.
 *
 * @param fault may set `began` and `ended`.
 */
export async function underLoad(
  stack: Pick<RehearsedStack, 'urls' | 'shortener' | 'settled'>,
  fault: (drill: Drill) => Promise<unknown>,
): Promise<Drill> {
  await stack.settled();
  const load = startMix(stack);
  try {
    await pause(margin.before);
    const drill = new Drill();
    await fault(drill);
    drill.ended ||= Date.now();
    await stack.settled();
    await pause(margin.after);
    drill.requests = await load.end();
    expect(await settle(stack.urls.tasks, load.run, drill.requests)).toEqual({ lost: [], duplicates: [] });
    return drill;
  } finally {
    await load.end();
  }
}

/** Tests a row of PROMISES.md. All tests share one stack. */
export const row = test
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the fixture's dependencies from the pattern.
  .extend('stack', { scope: 'worker' }, async ({}, { onCleanup }) => {
    const stack = await startContainers();
    onCleanup(stack.stop);
    return stack;
  })
  .extend('rehearse', ({ stack, annotate }) => async (fault: (drill: Drill) => Promise<unknown>) => {
    const drill = await underLoad(stack, fault);
    await annotate(`failed: ${drill.failed() || 'none'}, the last after ${drill.lastFailed()} s`);
    return drill;
  });
