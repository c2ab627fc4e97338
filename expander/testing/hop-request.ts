import { type ChainContext, createChargeOnce, type HopRequest } from '../src/expansion/expansion.ts';

/** Creates a request of a chain with these properties. */
export function hopRequest(
  chain: Partial<ChainContext> = {},
  request: Omit<HopRequest, 'chain'> = {},
): HopRequest {
  return { chain: { follow: 'default', chargeOnce: createChargeOnce(), ...chain }, ...request };
}
