import { setTimeout as sleep } from 'node:timers/promises';
import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { ExportResultCode, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Log } from './log.ts';
import { type Observer, outcome } from './observe.ts';
import { makeSpans } from './spans.ts';

/** Milliseconds the end of the process waits for a collector. */
const closeTimeout = 2_000;

const tracer = trace.getTracer('longhand');

/**
 * Exports the spans of this process by OTLP over HTTP. The exporter reads its address and headers from OTEL_EXPORTER_OTLP_*.
 *
 * @param interval milliseconds between two exports.
 * @returns exports what is left, for at most 2 s.
 */
export function startTracing(
  service: string,
  log: Pick<Log, 'warn' | 'info'>,
  interval = 5_000,
): () => Promise<void> {
  const provider = new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes({ 'service.name': `longhand-${service}` })),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: logged(new OTLPTraceExporter(), log),
        scheduledDelayMillis: interval,
      }),
    ],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  makeSpans((name) => tracer.startSpan(name, { kind: SpanKind.CLIENT }));
  const timeout = () => sleep(closeTimeout, undefined, { ref: false });
  return () => Promise.race([provider.shutdown().catch(() => {}), timeout()]);
}

/** Makes each request that `observer` gets a span, named by its route, never by its path. */
export function traceRequests(observer: Observer): Observer {
  return {
    ...observer,
    request(incoming, outgoing, answer) {
      const { method = '', headers } = incoming;
      // Of what a client may send here, only the trace that it belongs to.
      const parent = propagation.extract(ROOT_CONTEXT, { traceparent: headers.traceparent });
      const span = tracer.startSpan(method, { kind: SpanKind.SERVER }, parent);
      outgoing.once('close', () => {
        const { status, error, route } = outcome(outgoing);
        span.setAttributes({
          'http.request.method': method,
          'http.response.status_code': status,
          'http.route': route,
          'error.type': error,
        });
        if (route !== undefined) span.updateName(`${method} ${route}`);
        if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      });
      context.with(trace.setSpan(parent, span), () => observer.request(incoming, outgoing, answer));
    },
  };
}

/** Logs one line when the collector goes and one when it is back. The spans in between are lost. */
function logged(exporter: SpanExporter, log: Pick<Log, 'warn' | 'info'>): SpanExporter {
  let away = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const failed = result.code !== ExportResultCode.SUCCESS;
        if (failed && !away) log.warn({ err: result.error }, 'spans cannot be exported');
        if (away && !failed) log.info('spans are exported again');
        away = failed;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}
