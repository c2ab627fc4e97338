import type { Log } from './log.ts';
import type { ObservedRequest } from './spans.ts';

/** Seconds from which on a request is slow. */
const slow = 0.5;

/** Requests that are kept. */
const room = 1_000;

/** Keeps the requests worth an explanation: the last thousand that were slow or failed. */
export function notableRequests() {
  const kept: ObservedRequest[] = [];
  let next = 0;
  const all = () => [...kept.slice(0, next).reverse(), ...kept.slice(next).reverse()];
  return {
    add(request: ObservedRequest) {
      // 499 is a client that gave up, most likely because it had waited for too long.
      if (request.status < 499 && request.seconds < slow) return;
      kept[next] = request;
      next = (next + 1) % room;
    },
    /** Those with this id, the latest first: the proxy may have tried the same service twice. */
    find: (requestId: string) => all().filter((request) => request.requestId === requestId),
    /** All of them, the latest first. */
    all,
  };
}

/**
 * Keeps the notable requests of `service`. With an `endpoint` all requests are exported there as spans; without one the
 * exporter is not even loaded.
 *
 * @returns `observed` takes finished requests, `flush` exports what is waiting for it.
 */
export async function requestSinks(
  service: string,
  log: Pick<Log, 'warn' | 'info'>,
  endpoint: string | undefined,
) {
  const notable = notableRequests();
  if (endpoint === undefined) return { notable, observed: notable.add, flush: async () => {} };
  const { otlpExporter } = await import('./otlp.ts');
  const { add, flush } = otlpExporter({ endpoint, service, log });
  const observed = (request: ObservedRequest) => {
    notable.add(request);
    add(request);
  };
  return { notable, observed, flush };
}
