import { Histogram, type Registry } from 'prom-client';

/**
 * Bucket bounds in seconds. The 40 ms of a delayed acknowledgement have a bucket of their own (0.035 to 0.05); the last
 * ones are the deadlines of the expander (8 s) and of the proxy (10 s).
 */
export const durationBuckets = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.035, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
];

/** The methods that OpenTelemetry's HTTP conventions know. Any other one is `_OTHER`. */
const methods = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'CONNECT',
  'OPTIONS',
  'TRACE',
  'PATCH',
  'QUERY',
]);

/** A method as a label: one of a few, whatever clients send. */
export const methodLabel = (method: string) => (methods.has(method) ? method : '_OTHER');

interface Observed {
  method: string;
  scheme: string;
  /** Absent where no route matched. */
  route: string | undefined;
  status: number;
  error: string | undefined;
}

/** The histogram of requests, by the names and labels of OpenTelemetry's HTTP conventions (1.44). */
export function requestDurations(metrics: Registry) {
  const durations = new Histogram({
    name: 'http_server_request_duration_seconds',
    help: 'Time from the arrival of a request to the end of its response.',
    labelNames: [
      'http_request_method',
      'http_response_status_code',
      'http_route',
      'url_scheme',
      'error_type',
    ],
    buckets: durationBuckets,
    registers: [metrics],
  });
  return ({ method, scheme, route, status, error }: Observed, seconds: number) => {
    const labels: Record<string, string | number> = {
      http_request_method: methodLabel(method),
      http_response_status_code: status,
      url_scheme: scheme,
    };
    // Left out where there is none: for Prometheus an empty label is no label.
    if (route !== undefined) labels.http_route = route;
    if (status >= 500) labels.error_type = error ?? `${status}`;
    durations.observe(labels, seconds);
  };
}
