import type { Socket } from 'node:net';

/** What Node remembers of the last `setNoDelay`; it has no public reader of TCP_NODELAY. */
export function noDelay(socket: Socket): unknown {
  const symbol = Object.getOwnPropertySymbols(socket).find(
    ({ description }) => description === 'kSetNoDelay',
  );
  return symbol && (socket as unknown as Record<symbol, unknown>)[symbol];
}
