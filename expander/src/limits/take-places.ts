import type { Gauge } from 'prom-client';
import { aborted, overloaded } from '../expansion/errors.ts';
import { type FetchHop, type FetchHopOptions, turnOf } from '../expansion/expansion.ts';
import { createPlaces, type Queue } from './places.ts';

const nobody = { names: () => [turnOf()].values() };

/**
 * A layer that makes every hop wait for a place at its website.
 *
 * @param waiting counts waiting hops.
 * @throws ExpansionError `overloaded` if too many hops wait, or the signal's reason if it is aborted.
 */
export function takePlaces(waiting?: Pick<Gauge, 'inc' | 'dec'>, places = createPlaces()) {
  const wait = (origin: string, { turns = nobody, chain, signal, onWait }: FetchHopOptions) => {
    const { promise, resolve, reject } = Promise.withResolvers<Queue>();
    const join = (turn: string) => places.join(turn, origin, start, chain?.hasBegun);
    const leave = (turn: string) => places.leave(turn, origin, start);
    const end = () => {
      for (const turn of turns.names()) leave(turn);
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
      const place = places.take(turns.names(), url.origin) ?? (await wait(url.origin, options));
      try {
        return await fetchHop(url, options);
      } finally {
        places.release(place);
      }
    };
}
