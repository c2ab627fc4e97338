import { Hono } from 'hono';
import { onTestFinished } from 'vitest';
import { annotateRoute, createObserver } from '../src/observe.ts';
import { createMetrics } from '../src/operations.ts';
import { serve } from '../src/serve.ts';
import { logged } from './logged.ts';

/** Serves `routes` with an observer until the test is over: its port, its log lines, its metrics. */
export async function serveObserved(routes: Hono) {
  const { lines, log } = logged();
  const metrics = createMetrics('test', '0.0.0');
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const app = new Hono().use(annotateRoute).route('/', routes);
  const observer = createObserver(log, metrics);
  const { port } = await serve(app, { host: '127.0.0.1', port: 0, signal: stop.signal, observer });
  const requests = () => lines.filter(({ msg }) => msg === 'request');
  const counted = async () =>
    (await metrics.metrics())
      .split('\n')
      .filter((line) => line.startsWith('http_server_request_duration_seconds_count'));
  return { port, lines, metrics, requests, counted };
}
