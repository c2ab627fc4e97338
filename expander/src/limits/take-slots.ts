import type { Gauge } from 'prom-client';
import { aborted, overloaded } from '../expansion/errors.ts';
import { type FetchHop, type FetchHopOptions, turnOf } from '../expansion/expansion.ts';
import { createSlots, type Slot } from './slots.ts';

const nobody = { names: () => [turnOf()].values() };

/**
 * A layer that delays each hop until its website has a free slot.
 *
 * @param waiting counts waiting hops.
 * @throws ExpansionError `overloaded` if too many hops are waiting, or the signal's reason if it is aborted.
 */
export function takeSlots(waiting?: Pick<Gauge, 'inc' | 'dec'>, slots = createSlots()) {
  const wait = (origin: string, { turns = nobody, chain, signal, onWait }: FetchHopOptions) => {
    const { promise, resolve, reject } = Promise.withResolvers<Slot>();
    const join = (turn: string) => slots.join(turn, origin, start, chain?.hasBegun);
    const leave = (turn: string) => slots.leave(turn, origin, start);
    const end = () => {
      for (const turn of turns.names()) leave(turn);
      signal?.removeEventListener('abort', stop);
      waiting?.dec();
      onWait?.();
    };
    const start = (slot: Slot) => {
      end();
      resolve(slot);
    };
    const stop = () => {
      end();
      reject(aborted(signal?.reason));
    };
    const joined = [...turns.names()].filter(join);
    if (joined.length === 0) throw overloaded('Too many requests from your address are waiting');
    waiting?.inc();
    onWait?.({ join, leave });
    signal?.addEventListener('abort', stop);
    if (signal?.aborted) stop();
    return promise;
  };

  return (fetchHop: FetchHop): FetchHop =>
    async (url, options) => {
      const { turns = nobody } = options;
      const slot = slots.take(turns.names(), url.origin) ?? (await wait(url.origin, options));
      try {
        return await fetchHop(url, options);
      } finally {
        slots.release(slot);
      }
    };
}
