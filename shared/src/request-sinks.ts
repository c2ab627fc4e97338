import type { Log } from './log.ts';
import { type NotableRequests, notableRequests, type ObservedRequest } from './notable-requests.ts';

/** Where finished requests go. */
export interface RequestSinks {
  observed(request: ObservedRequest): void;
  /** Those that were slow or failed. */
  notable: NotableRequests;
  /** Exports what is waiting for it. */
  flush(): Promise<void>;
}

/**
 * Keeps the notable requests of `service`. With an `endpoint` all requests are exported there as spans; without one the
 * exporter is not even loaded.
 */
export async function requestSinks(
  service: string,
  log: Pick<Log, 'warn' | 'info'>,
  endpoint: string | undefined,
): Promise<RequestSinks> {
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
