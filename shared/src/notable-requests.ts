import type { Span } from './spans.ts';

/** A request as its service saw it. */
export interface ObservedRequest {
  /** The proxy's request id, which is its trace id. */
  requestId: string;
  service: string;
  method: string;
  /** The pattern of the route; absent where no route matched. */
  route?: string;
  status: number;
  error?: string;
  /** Milliseconds since 1970, with fractions. */
  start: number;
  seconds: number;
  spans: readonly Span[];
}

/** Seconds from which on a request is slow. */
const slow = 0.5;

/** Requests that are kept. */
const room = 1_000;

/** The requests worth an explanation: the last thousand that were slow or failed. */
export interface NotableRequests {
  add(request: ObservedRequest): void;
  /** Those with this id, the latest first: the proxy may have tried the same service twice. */
  find(requestId: string): ObservedRequest[];
  /** All of them, the latest first. */
  all(): ObservedRequest[];
}

export function notableRequests(): NotableRequests {
  const kept: ObservedRequest[] = [];
  let next = 0;
  const all = () => [...kept.slice(0, next).reverse(), ...kept.slice(next).reverse()];
  return {
    add(request) {
      // 499 is a client that gave up, most likely because it had waited for too long.
      if (request.status < 499 && request.seconds < slow) return;
      kept[next] = request;
      next = (next + 1) % room;
    },
    find: (requestId) => all().filter((request) => request.requestId === requestId),
    all,
  };
}
