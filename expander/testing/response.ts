import type { Hop, HopResponse } from '../src/expansion/expansion.ts';

/** By default, an expired response to HEAD that does not redirect. */
export const responseWith = (facts: Partial<HopResponse> = {}): HopResponse => ({
  status: 200,
  location: null,
  method: 'HEAD',
  addressFamily: 4,
  freshUntil: 0,
  cached: false,
  ...facts,
});

/** The part of a hop that the page needs. */
export const redirectHop = {
  url: 'http://sho.rt/x',
  status: 301,
  milliseconds: 1,
  mixedScripts: [] as readonly string[],
} as Hop;
