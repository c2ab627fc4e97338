import type { Gauge } from 'prom-client';
import { aborted, overloaded } from '../expansion/errors.ts';
import type { FetchHop, FetchHopOptions } from '../expansion/expansion.ts';
import { turnOf } from '../expansion/turn.ts';
import { createPlaces, type Queue } from './places.ts';

/**
 * A layer in which every hop waits for a place at its website.
 *
 * @param waiting counts waiting hops.
 * @throws ExpansionError `overloaded` if too many hops wait, or the signal's reason if that ends the wait.
 */
export function takePlaces(waiting?: Pick<Gauge, 'inc' | 'dec'>, places = createPlaces()) {
  const nobody = { names: () => [turnOf()].values() };
  const wait = (origin: string, { turns = nobody, chain, signal, onWait }: FetchHopOptions) => {
    const { promise, resolve, reject } = Promise.withResolvers<Queue>();
    const queues = new Map<string, Queue>();
    const leave = (turn: string) => {
      const queue = queues.get(turn);
      if (queue && queues.delete(turn)) places.leave(queue, start);
    };
    const end = () => {
      queues.keys().forEach(leave);
      signal?.removeEventListener('abort', stop);
      waiting?.dec();
      onWait?.();
    };
    const start = (place: Queue) => {
      end();
      resolve(place);
    };
    const stop = () => {
      end();
      reject(aborted(signal?.reason));
    };
    const join = (turn: string) => {
      const queue = places.join(turn, origin, start, chain?.hasBegun);
      if (queue) queues.set(turn, queue);
    };
    for (const turn of turns.names()) join(turn);
    if (queues.size === 0) throw overloaded('Too many requests from your address are waiting');
    waiting?.inc();
    onWait?.({ join, leave });
    signal?.addEventListener('abort', stop);
    if (signal?.aborted) stop();
    return promise;
  };

  return (fetchHop: FetchHop): FetchHop =>
    async (url, options) => {
      const free = places.take((options.turns ?? nobody).names(), url.origin);
      const place = free ?? (await wait(url.origin, options));
      try {
        return await fetchHop(url, options);
      } finally {
        places.release(place);
      }
    };
}
