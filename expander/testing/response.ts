import type { Hop, HopResponse } from '../src/expansion/expansion.ts';

/** Creates a response. By default, it is an expired response to HEAD without a redirect. */
export const responseWith = (facts: Partial<HopResponse> = {}): HopResponse => ({
  status: 200,
  location: null,
  method: 'HEAD',
  addressFamily: 4,
  freshUntil: 0,
  cached: false,
  ...facts,
});

/** A hop with only the fields that the page needs. */
export const redirectHop = {
  url: 'http://sho.rt/x',
  status: 301,
  milliseconds: 1,
  mixedScripts: [] as readonly string[],
} as Hop;
