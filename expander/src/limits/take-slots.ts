import type { Gauge } from 'prom-client';
import { aborted, overloaded } from '../expansion/errors.ts';
import { type FetchHop, type HopRequest, requesterOf } from '../expansion/expansion.ts';
import type { Slot } from './hop-queue.ts';
import { createSlots } from './slots.ts';

const nobody = { names: () => [requesterOf()].values() };

/**
 * A layer that delays each hop until its website has a free slot.
 *
 * @param waiting counts waiting hops.
 * @throws ExpansionError `overloaded` if too many hops are waiting, or the signal's reason if it is aborted.
 */
export function takeSlots(waiting?: Pick<Gauge, 'inc' | 'dec'>, slots = createSlots()) {
  const wait = (origin: string, { chain, hasBegun }: HopRequest) => {
    const { requesters = nobody, signal, onWait } = chain;
    const { promise, resolve, reject } = Promise.withResolvers<Slot>();
    const join = (requester: string) => slots.join(requester, origin, start, hasBegun);
    const leave = (requester: string) => slots.leave(requester, origin, start);
    const end = () => {
      for (const requester of requesters.names()) leave(requester);
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
    const joined = [...requesters.names()].filter(join);
    if (joined.length === 0) throw overloaded('Too many requests from your address are waiting');
    waiting?.inc();
    onWait?.({ join, leave });
    signal?.addEventListener('abort', stop);
    if (signal?.aborted) stop();
    return promise;
  };

  return (fetchHop: FetchHop): FetchHop =>
    async (url, request) => {
      const { requesters = nobody } = request.chain;
      const slot = slots.take(requesters.names(), url.origin) ?? (await wait(url.origin, request));
      try {
        return await fetchHop(url, request);
      } finally {
        slots.release(slot);
      }
    };
}
