import type { Hop, HopResponse } from '../src/expansion/expansion.ts';

/** An answer to HEAD that leads nowhere and has expired, but for what `facts` say. */
export const responseWith = (facts: Partial<HopResponse> = {}): HopResponse => ({
  status: 200,
  location: null,
  method: 'HEAD',
  addressFamily: 4,
  freshUntil: 0,
  cached: false,
  ...facts,
});

/** A hop as the page shows it. */
export const redirectHop = {
  url: 'http://sho.rt/x',
  status: 301,
  milliseconds: 1,
  mixedScripts: [] as readonly string[],
} as Hop;
