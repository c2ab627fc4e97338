import { randomBytes } from 'node:crypto';
import type { Log } from './log.ts';
import type { Facts, ObservedRequest, Span } from './spans.ts';

/** Requests that wait for the next export, at most. */
const maxWaiting = 2_000;

/** Milliseconds an export may take. */
const timeout = 10_000;

export interface OtlpSettings {
  /** The base URL of a collector (OTEL_EXPORTER_OTLP_ENDPOINT); the spans go to `/v1/traces` below it. */
  endpoint: string;
  service: string;
  log: Pick<Log, 'warn' | 'info'>;
  /** Milliseconds between two exports. */
  interval?: number;
}

/**
 * Exports requests and what they waited for as spans, by OTLP over HTTP in its JSON form (opentelemetry-proto 1.5). A
 * collector that is away costs nothing but its spans, and one line in the log.
 *
 * @returns takes finished requests.
 */
export function otlpExporter({ endpoint, service, log, interval = 5_000 }: OtlpSettings) {
  const url = `${endpoint.replace(/\/$/, '')}/v1/traces`;
  let waiting: ObservedRequest[] = [];
  let away = false;
  const send = async () => {
    const requests = waiting;
    waiting = [];
    if (requests.length === 0) return;
    try {
      const body = JSON.stringify(traces(service, requests));
      const headers = { 'Content-Type': 'application/json' };
      const answer = await fetch(url, {
        method: 'POST',
        headers,
        body,
        signal: AbortSignal.timeout(timeout),
      });
      await answer.body?.cancel();
      if (!answer.ok) throw new Error(`the collector answered ${answer.status}`);
      if (away) log.info('spans are exported again');
      away = false;
    } catch (err) {
      if (!away) log.warn({ err }, 'spans cannot be exported');
      away = true;
    }
  };
  setInterval(send, interval).unref();
  return {
    add(request: ObservedRequest) {
      if (waiting.length < maxWaiting && /^[0-9a-f]{32}$/.test(request.requestId)) waiting.push(request);
    },
    /** Exports what is waiting. */
    flush: send,
  };
}

/** The message of one export. Times are nanoseconds since 1970 in decimal, as JSON has no such integers. */
function traces(service: string, requests: readonly ObservedRequest[]) {
  const resource = { attributes: attributes({ 'service.name': `longhand-${service}` }) };
  return {
    resourceSpans: [
      { resource, scopeSpans: [{ scope: { name: 'longhand' }, spans: requests.flatMap(spansOf) }] },
    ],
  };
}

/** Kinds of spans, and the status code of an error, by their numbers in the protocol. */
const kinds = { server: 2, client: 3 };
const statusError = 2;

function spansOf(request: ObservedRequest) {
  const { requestId: traceId, method, route, status, error, start, seconds, spans } = request;
  const spanId = newSpanId();
  const facts = {
    'http.request.method': method,
    'http.response.status_code': status,
    ...(route && { 'http.route': route }),
    ...(error && { 'error.type': error }),
  };
  const own = {
    traceId,
    spanId,
    // The proxy's span, as its `traceparent` says.
    parentSpanId: traceId.slice(0, 16),
    name: route ? `${method} ${route}` : method,
    kind: kinds.server,
    ...times(start, seconds),
    attributes: attributes(facts),
    ...(status >= 500 && { status: { code: statusError } }),
  };
  return [
    own,
    ...spans.map((span) => child(span, { traceId, parentSpanId: spanId, end: start / 1_000 + seconds })),
  ];
}

/** What has not ended ended with its request. */
function child(span: Span, { end, ...ids }: { traceId: string; parentSpanId: string; end: number }) {
  const { name, start, seconds = Math.max(end - start / 1_000, 0), error, facts = {} } = span;
  return {
    ...ids,
    spanId: newSpanId(),
    name,
    kind: kinds.client,
    ...times(start, seconds),
    attributes: attributes({ ...facts, ...(error && { 'error.type': error }) }),
    ...(error && { status: { code: statusError } }),
  };
}

const newSpanId = () => randomBytes(8).toString('hex');

const times = (start: number, seconds: number) => ({
  startTimeUnixNano: nanoseconds(start),
  endTimeUnixNano: nanoseconds(start + seconds * 1_000),
});

const nanoseconds = (milliseconds: number) => `${BigInt(Math.round(milliseconds * 1_000)) * 1_000n}`;

const attributes = (facts: Facts) =>
  Object.entries(facts).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: `${value}` } : { stringValue: `${value}` },
  }));
